//! Large steps of a window: they are shortened or passed over, so that one of them does not remove everything that is
//! older.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{
    Content, Conversation, FreeBudget, PartTraits, PlanBuilder, Situation, Traits, Unit, UnitKind,
    excerpt,
};

/// The fewest tokens of a shortened output, with the host's lines, which need about half of them.
const LEAST_TOKENS: u64 = 250;

/// Bytes of the host's lines and mark for each of their tokens, at most.
const BYTES_OF_TOKEN: u32 = 8;

/// Outcome of a unit that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversized {
    /// It is kept, with its outputs shortened.
    Shortened,
    /// It is removed, and older units may still be kept.
    PassedOver,
    /// It is not large, or a model's answer: it ends the window.
    EndsWindow,
}

/// The steps that a strategy shortens because one of them would take the place of everything that is older.
///
/// A unit is large if it needs more than half of what was free before the first unit was chosen. Its tool outputs are
/// cut to their beginning and their end.
///
/// ```
/// use baler_strategy::testing::{Recording, call};
/// use baler_strategy::{Conversation, FreeBudget, LargeSteps, Oversized};
///
/// let log = "tide gauge 7: no reading\n".repeat(4_000);
/// let recording = Recording::new().user("Check.").step("", [call("logs", "{}", &log)]).user("And?");
/// let (conversation, situation) = (Conversation::new(&recording), recording.situation(4_000));
/// let mut free = FreeBudget::after_protected(&situation, conversation.units());
/// let mut large = LargeSteps::new(&free);
/// let step = 1;
/// assert!(!free.take(&conversation.units()[step]));
/// assert_eq!(large.take(&conversation, &situation, step, &mut free), Oversized::Shortened);
/// assert!(free.tokens() > 2_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargeSteps {
    /// Most tokens of a unit that is not large.
    from: u64,
    steps: BTreeMap<usize, Shorter>,
}

/// The excerpts of a step, and at least how much they save.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Shorter {
    excerpts: Vec<(usize, usize, Vec<Range<usize>>)>,
    tokens: u32,
    bytes: u32,
}

impl LargeSteps {
    /// Starts with none. `free` is what is free before the first unit is chosen.
    pub fn new(free: &FreeBudget) -> Self {
        Self {
            from: free.tokens() / 2,
            steps: BTreeMap::new(),
        }
    }

    /// Decides the outcome of a unit that does not fit, and charges `free` with its cost. A shortened step gets at most
    /// a quarter of the free tokens, so that most of them are left for older units; see [`lengthen`](Self::lengthen).
    pub fn take(
        &mut self,
        conversation: &Conversation<'_>,
        situation: &Situation,
        unit: usize,
        free: &mut FreeBudget,
    ) -> Oversized {
        let units = conversation.units();
        let is_large = |own: &&Unit| !own.is_protected() && own.cost() > self.from;
        let Some(own) = units.get(unit).filter(is_large) else {
            return Oversized::EndsWindow;
        };
        let has_calls = own.kind == UnitKind::Step && own.traits.contains(Traits::CALLS);
        // Without the answer that ended it, a turn with calls would count as unfinished.
        if own.kind != UnitKind::User && !has_calls {
            return Oversized::EndsWindow;
        }
        let most = free.tokens() / 4;
        if has_calls && let Some(shorter) = shortened(conversation, situation, unit, most) {
            let mut rest = *free;
            rest.charge(own);
            rest.gain(shorter.tokens, shorter.bytes);
            if rest.is_within_limits() {
                *free = rest;
                self.steps.insert(unit, shorter);
                return Oversized::Shortened;
            }
        }
        // If an older unit is kept, the host may have to write its note in the gap.
        if units[..unit].iter().any(|older| !older.is_protected()) {
            free.spend(situation.opening_note, 0);
        }
        Oversized::PassedOver
    }

    /// Gives the shortened steps the tokens that are still free, except those of the host's note, newest step first.
    pub fn lengthen(
        &mut self,
        conversation: &Conversation<'_>,
        situation: &Situation,
        free: &mut FreeBudget,
    ) {
        for (&unit, shorter) in self.steps.iter_mut().rev() {
            let left = free
                .tokens()
                .saturating_sub(u64::from(situation.opening_note));
            let cost = conversation.units()[unit].cost();
            let most = cost.saturating_sub(u64::from(shorter.tokens)) + left;
            let Some(longer) = shortened(conversation, situation, unit, most) else {
                continue;
            };
            let mut rest = *free;
            rest.spend(shorter.tokens, shorter.bytes);
            rest.gain(longer.tokens, longer.bytes);
            if longer.tokens < shorter.tokens && rest.is_within_limits() {
                *free = rest;
                *shorter = longer;
            }
        }
    }

    /// Returns whether a unit is shortened.
    pub fn contains(&self, unit: usize) -> bool {
        self.steps.contains_key(&unit)
    }

    /// Returns the tokens and bytes that are saved in a unit, 0 if it is not shortened.
    pub fn saved(&self, unit: usize) -> (u32, u32) {
        let shorter = self.steps.get(&unit);
        shorter.map_or((0, 0), |shorter| (shorter.tokens, shorter.bytes))
    }

    /// Returns the tokens that are saved in all units together.
    pub fn saved_tokens(&self) -> u64 {
        let steps = self.steps.values();
        steps.map(|shorter| u64::from(shorter.tokens)).sum()
    }

    /// Releases what a unit was charged with, shortened or whole, if it is removed after all.
    pub fn release(&mut self, units: &[Unit], unit: usize, free: &mut FreeBudget) {
        if let Some(own) = units.get(unit) {
            free.release(own);
        }
        if let Some(shorter) = self.steps.remove(&unit) {
            free.spend(shorter.tokens, shorter.bytes);
        }
    }

    /// Adds the excerpts to a plan, which keeps these units then.
    pub fn add_to(&self, builder: &mut PlanBuilder) {
        for (unit, shorter) in &self.steps {
            let mut edits = builder.rewrite(*unit);
            for (message, part, runs) in &shorter.excerpts {
                edits.excerpt(*message, *part, runs.iter().cloned());
            }
        }
    }
}

/// A tool output of which an excerpt may be kept.
struct Output {
    message: usize,
    part: usize,
    tokens: u64,
    text: String,
}

/// Returns the outputs of a unit of which excerpts may be kept.
fn outputs(conversation: &Conversation<'_>, unit: usize) -> Vec<Output> {
    let mut outputs = Vec::new();
    for (message, own) in conversation.messages(unit).into_iter().enumerate() {
        for (part, own) in own.parts.into_iter().enumerate() {
            // The cost of pictures stays, however short the text becomes.
            if let Content::Output(output) = own.content
                && own.traits.contains(PartTraits::EXCERPTABLE)
                && output.media.is_empty()
            {
                outputs.push(Output {
                    message,
                    part,
                    tokens: own.tokens.into(),
                    text: output.text,
                });
            }
        }
    }
    outputs
}

/// Shortens the outputs of a unit until it has at most `most` tokens; `None` if that leaves too little of them.
fn shortened(
    conversation: &Conversation<'_>,
    situation: &Situation,
    unit: usize,
    most: u64,
) -> Option<Shorter> {
    let outputs = outputs(conversation, unit);
    let all: u64 = outputs.iter().map(|output| output.tokens).sum();
    let others = conversation.units().get(unit)?.cost().saturating_sub(all);
    let sizes = outputs.iter().map(|output| output.tokens).collect();
    let cap = cap(sizes, most.checked_sub(others)?);
    if cap < LEAST_TOKENS {
        return None;
    }
    // About the tokens of the host's lines in an excerpt with two runs, and of its mark.
    let lines = excerpt::tokens(conversation, "", &[0..0, 0..0])
        .saturating_add(situation.insertion_overhead);
    let mut shorter = Shorter::default();
    for output in outputs {
        if output.tokens <= cap {
            continue;
        }
        let (runs, tokens) = ends(conversation, situation, &output, lines, cap)?;
        let kept: usize = runs.iter().map(Range::len).sum();
        let bytes = u32::try_from(output.text.len() - kept).unwrap_or(u32::MAX);
        shorter.tokens += u32::try_from(output.tokens - tokens).unwrap_or(u32::MAX);
        shorter.bytes += bytes.saturating_sub(lines.saturating_mul(BYTES_OF_TOKEN));
        shorter.excerpts.push((output.message, output.part, runs));
    }
    (!shorter.excerpts.is_empty()).then_some(shorter)
}

/// Returns the most tokens that each output may have, so that all of them together have at most `most`.
fn cap(mut sizes: Vec<u64>, most: u64) -> u64 {
    sizes.sort_unstable();
    let mut left = most;
    for (index, size) in sizes.iter().enumerate() {
        let share = left / (sizes.len() - index) as u64;
        if *size > share {
            return share;
        }
        left -= size;
    }
    u64::MAX
}

/// Returns the runs that keep the beginning and the end of an output within `most` tokens, of which the host's lines need
/// about `lines`, and the tokens that it has then; `None` if that does not succeed.
fn ends(
    conversation: &Conversation<'_>,
    situation: &Situation,
    output: &Output,
    lines: u32,
    most: u64,
) -> Option<(Vec<Range<usize>>, u64)> {
    let Output { tokens, text, .. } = output;
    let for_text = most.checked_sub(lines.into())?;
    let mut bytes = text.len() as u64 * for_text / (*tokens).max(1);
    // The ends may have more tokens per byte than the whole text.
    for _ in 0..4 {
        let end = usize::try_from(bytes / 2).ok()?;
        let runs = excerpt::ends(text, end, end);
        let own = u64::from(excerpt::tokens(conversation, text, &runs))
            + u64::from(situation.insertion_overhead);
        if own <= most && own < *tokens {
            return Some((runs, own));
        }
        bytes = bytes * 3 / 4;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source as _;
    use crate::testing::{Recording, call, violation};

    /// A task, a small step, a step with parallel calls of which one printed 10,000 tokens, and a question.
    fn recording() -> Recording {
        let log = "潮位 4.20 m, gauge 7\n".repeat(1_700);
        Recording::new()
            .user("Watch the gauges.")
            .step("", [call("receipt", "{}", "R-1 paid")])
            .step(
                "Both at once.",
                [call("status", "{}", "all up"), call("logs", "{}", &log)],
            )
            .user("And now?")
    }

    fn free(recording: &Recording, budget: u32) -> FreeBudget {
        FreeBudget::after_protected(&recording.situation(budget), &recording.units())
    }

    #[test]
    fn large_step_keeps_the_ends_of_its_long_output_and_its_short_output_whole() {
        let recording = recording();
        let (conversation, situation) = (Conversation::new(&recording), recording.situation(4_000));
        let before = free(&recording, 4_000);
        let mut left = before;
        let mut large = LargeSteps::new(&left);
        let taken = large.take(&conversation, &situation, 2, &mut left);
        assert_eq!(taken, Oversized::Shortened);
        assert!(before.tokens() - left.tokens() <= before.tokens() / 4);
        let [(message, part, runs)] = &large.steps[&2].excerpts[..] else {
            panic!("only the long output is cut: {large:?}");
        };
        assert_eq!((*message, *part, runs.len()), (2, 0, 2));
        let mut builder = PlanBuilder::keeping_all(4);
        large.add_to(&mut builder);
        let plan = builder.build().expect("it keeps all units");
        assert_eq!(violation(&recording, &situation, &plan), None);
    }

    #[test]
    fn what_is_left_in_the_end_lengthens_it() {
        let recording = recording();
        let (conversation, situation) = (Conversation::new(&recording), recording.situation(4_000));
        let mut left = free(&recording, 4_000);
        let mut large = LargeSteps::new(&left);
        large.take(&conversation, &situation, 2, &mut left);
        assert!(left.tokens() > 2_500);
        large.lengthen(&conversation, &situation, &mut left);
        assert!(left.is_within_limits() && left.tokens() < 1_000, "{left:?}");
        large.release(&recording.units(), 2, &mut left);
        assert_eq!(left, free(&recording, 4_000));
    }

    /// Takes the first two units of a recording with a budget of 2,000 tokens.
    fn first_two_taken(recording: &Recording) -> (LargeSteps, [Oversized; 2]) {
        let (conversation, situation) = (Conversation::new(recording), recording.situation(2_000));
        let mut left = free(recording, 2_000);
        let mut large = LargeSteps::new(&left);
        let taken = [0, 1].map(|unit| large.take(&conversation, &situation, unit, &mut left));
        (large, taken)
    }

    #[test]
    fn large_unit_without_an_excerpt_is_passed_over() {
        let long = "word ".repeat(4_000);
        let recording = Recording::new()
            .user(&long)
            .step("", [call("logs", "{}", &long).fixed()])
            .user("And now?");
        let (large, taken) = first_two_taken(&recording);
        assert_eq!(taken, [Oversized::PassedOver; 2]);
        assert_eq!(large.saved_tokens(), 0);
    }

    #[test]
    fn an_answer_and_a_unit_that_is_not_large_end_the_window() {
        let recording = Recording::new()
            .step(&"word ".repeat(4_000), [])
            .step("", [call("logs", "{}", &"word ".repeat(400))])
            .user("And now?");
        let (_, taken) = first_two_taken(&recording);
        assert_eq!(taken, [Oversized::EndsWindow; 2]);
    }

    #[test]
    fn cap_gives_small_outputs_all_that_they_need() {
        assert_eq!(cap(vec![900, 10, 50], 360), 300);
        assert_eq!(cap(vec![900, 900, 50], 450), 200);
        assert_eq!(cap(vec![10, 20], 30), u64::MAX);
    }
}
