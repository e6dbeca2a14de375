//! Chooses the units to keep, and the text that replaces the rest.

use baler_digest::shares::INSERTION_BYTES;
use baler_strategy::{
    Content, Conversation, FreeBudget, Placement, Role, Situation, Traits, Unit, UnitKind,
    opening_note,
};

use crate::Config;
use crate::context::Context;
use crate::limits::Limits;
use crate::material::{Material, is_earlier_text};
use crate::stats::Stats;
use crate::text::{Past, TextSource, Tool, render};
use crate::turn::Turn;

/// The outcome of each unit, and the text to insert.
#[derive(Debug)]
pub(crate) struct Choice {
    pub outcomes: Vec<UnitOutcome>,
    pub text: String,
    /// The text is inserted before this unit.
    pub place: usize,
    pub placement: Placement,
    pub stats: Stats,
}

/// The outcome of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitOutcome {
    Protected,
    Task,
    Recent,
    Summary,
    Coalesced,
}

impl UnitOutcome {
    /// Returns the reason code, `None` for protected units.
    pub(crate) fn code(self) -> Option<&'static str> {
        match self {
            Self::Protected => None,
            Self::Task => Some("task"),
            Self::Recent => Some("recent"),
            Self::Summary => Some("summary"),
            Self::Coalesced => Some("coalesced"),
        }
    }
}

/// Returns the choice, or the reason to leave the conversation unchanged.
///
/// As many recent turns are kept as fit with a text, and the text is as long as fits with them: a kept turn
/// is worth more than a line about an older one.
pub(crate) fn choose(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
    context: &Context,
) -> Result<Choice, String> {
    let chooser = Chooser::new(conversation, situation, config, context);
    let recent = usize::try_from(config.keep_recent_turns).unwrap_or(usize::MAX);
    let most = recent.min(chooser.steps.len());
    // The more turns are kept, the less is left of the budget.
    let roomy = largest(most, |recent| {
        Some(chooser.layout(recent)).filter(|layout| layout.room.is_within_limits())
    });
    let Some(layout) = roomy else {
        let reason = match chooser.layout(0).coalesces() {
            true => "the budget leaves too few tokens for the text",
            false => "there is nothing to coalesce",
        };
        return Err(reason.to_owned());
    };
    if !layout.coalesces() {
        return Err("nothing is older than the recent turns".to_owned());
    }
    if chooser.fits_already {
        // The conversation fits the budget with all recent turns.
        let choice = chooser.with_text(&layout);
        return choice.ok_or_else(|| {
            "the text would not be shorter than the units that it replaces".to_owned()
        });
    }
    largest(layout.recent, |recent| {
        chooser.with_text(&chooser.layout(recent))
    })
    .ok_or_else(|| "the budget leaves too few tokens for the text".to_owned())
}

/// Returns what `find` returns for the largest number up to `most` for which it returns something. It must
/// then return something for all smaller numbers as well. Each call walks over the whole conversation, so
/// this is a binary search that tries `most` first.
fn largest<T>(most: usize, find: impl Fn(usize) -> Option<T>) -> Option<T> {
    let mut found = None;
    let (mut from, mut to) = (0, most + 1);
    let mut number = most;
    while from < to {
        match find(number) {
            Some(new) => {
                found = Some(new);
                from = number + 1;
            }
            None => to = number,
        }
        number = usize::midpoint(from, to);
    }
    found
}

/// What does not depend on the number of kept turns.
struct Chooser<'a> {
    conversation: &'a Conversation<'a>,
    situation: &'a Situation,
    config: &'a Config,
    context: &'a Context,
    units: &'a [Unit],
    material: Material,
    tools: Vec<Tool>,
    program_turns: Option<Vec<Turn>>,
    task: Option<usize>,
    steps: Vec<usize>,
    fits_already: bool,
}

/// Which units are kept with a given number of recent turns.
struct Layout {
    outcomes: Vec<UnitOutcome>,
    recent: usize,
    room: FreeBudget,
}

impl Layout {
    /// Returns whether the text replaces any unit.
    fn coalesces(&self) -> bool {
        self.outcomes.contains(&UnitOutcome::Coalesced)
    }
}

impl<'a> Chooser<'a> {
    fn new(
        conversation: &'a Conversation<'a>,
        situation: &'a Situation,
        config: &'a Config,
        context: &'a Context,
    ) -> Self {
        let units = conversation.units();
        let limits = Limits::of(config, 0);
        let tools = match &context.tools {
            Some(tools) => tools.iter().map(Tool::from).collect(),
            None => conversation.tools().iter().map(Tool::from).collect(),
        };
        let program_turns = context.turns.as_ref().map(|turns| {
            turns
                .iter()
                .map(|turn| Turn::of_program(turn, limits.excerpt))
                .collect()
        });
        let steps = (0..units.len()).filter(|index| units[*index].kind == UnitKind::Step);
        let mut room = FreeBudget::of(situation);
        for unit in units {
            room.charge(unit);
        }
        Self {
            conversation,
            situation,
            config,
            context,
            units,
            material: Material::read(conversation, &limits),
            tools,
            program_turns,
            // The text follows the task and must not come between live messages.
            task: units.iter().position(|unit| {
                unit.kind == UnitKind::User && !unit.traits.contains(Traits::LIVE)
            }),
            steps: steps.collect(),
            fits_already: room.is_within_limits(),
        }
    }

    /// Returns the index at which the newest turns begin, with the user messages right before them.
    fn begin_of_recent(&self, recent: usize) -> usize {
        let newest = &self.steps[self.steps.len() - recent..];
        let mut begin = newest.first().copied().unwrap_or(self.units.len());
        while !newest.is_empty() && begin > 0 && self.units[begin - 1].kind == UnitKind::User {
            begin -= 1;
        }
        begin
    }

    fn layout(&self, recent: usize) -> Layout {
        let begin = self.begin_of_recent(recent);
        let mut room = FreeBudget::after_protected(self.situation, self.units);
        let mut outcomes: Vec<UnitOutcome> = self
            .units
            .iter()
            .enumerate()
            .map(|(index, unit)| match unit.is_protected() {
                true => UnitOutcome::Protected,
                false if index >= begin => {
                    room.charge(unit);
                    UnitOutcome::Recent
                }
                false => UnitOutcome::Coalesced,
            })
            .collect();
        if let Some(task) = self.task
            && outcomes[task] == UnitOutcome::Coalesced
            && room.take(&self.units[task])
        {
            outcomes[task] = UnitOutcome::Task;
        }
        for (index, unit) in self.units.iter().enumerate().rev() {
            if unit.kind == UnitKind::Summary
                && outcomes[index] == UnitOutcome::Coalesced
                && room.take(unit)
            {
                outcomes[index] = UnitOutcome::Summary;
            }
        }
        Layout {
            outcomes,
            recent,
            room,
        }
    }

    /// Returns the choice with the longest text that fits. If none fits with the earlier summaries, the
    /// text includes and replaces them.
    fn with_text(&self, layout: &Layout) -> Option<Choice> {
        if !layout.room.is_within_limits() && !layout.outcomes.contains(&UnitOutcome::Summary) {
            return None;
        }
        (0..Limits::LEVELS)
            .find_map(|level| self.at_level(&layout.outcomes, layout, layout.room, level))
            .or_else(|| {
                if !layout.outcomes.contains(&UnitOutcome::Summary) {
                    return None;
                }
                let mut outcomes = layout.outcomes.clone();
                let mut room = layout.room;
                for (outcome, unit) in outcomes.iter_mut().zip(self.units) {
                    if *outcome == UnitOutcome::Summary {
                        *outcome = UnitOutcome::Coalesced;
                        room.release(unit);
                    }
                }
                (0..Limits::LEVELS).find_map(|level| self.at_level(&outcomes, layout, room, level))
            })
    }

    fn at_level(
        &self,
        outcomes: &[UnitOutcome],
        layout: &Layout,
        room: FreeBudget,
        level: u32,
    ) -> Option<Choice> {
        let limits = Limits::of(self.config, level);
        let (text, mut stats) = self.render(outcomes, &limits);
        let (place, placement) = self.place(outcomes);
        let tokens = self
            .conversation
            .count(&text)
            .saturating_add(self.situation.insertion_overhead);
        let first = (0..place)
            .filter(|index| outcomes[*index] != UnitOutcome::Coalesced)
            .map(|index| &self.units[index])
            .find(|unit| unit.kind != UnitKind::Instructions);
        let note = opening_note(self.situation, first);
        let tokens = u64::from(tokens) + note;
        let escaped = text
            .bytes()
            .filter(|byte| matches!(byte, b'"' | b'\\' | b'\n'))
            .count();
        let bytes = text.len() + escaped + INSERTION_BYTES;
        let mut room = room;
        room.spend(
            u32::try_from(tokens).unwrap_or(u32::MAX),
            u32::try_from(bytes).unwrap_or(u32::MAX),
        );
        let gone = outcomes.iter().zip(self.units);
        let gone: u64 = gone
            .filter(|(outcome, _)| **outcome == UnitOutcome::Coalesced)
            .map(|(_, unit)| unit.cost())
            .sum();
        if !room.is_within_limits() || tokens >= gone {
            return None;
        }
        stats.recent_turns_kept = layout.recent as u64;
        stats.shortened = level.into();
        Some(Choice {
            outcomes: outcomes.to_vec(),
            text,
            place,
            placement,
            stats,
        })
    }

    fn render(&self, outcomes: &[UnitOutcome], limits: &Limits) -> (String, Stats) {
        let goes = |index: &usize| outcomes[*index] == UnitOutcome::Coalesced;
        let is_completed = |index: &&usize| {
            let unit = &self.units[**index];
            !unit.traits.contains(Traits::PENDING)
        };
        let completed = || self.steps.iter().filter(is_completed);
        let (turns, is_newest): (Vec<&Turn>, bool) = match &self.program_turns {
            Some(turns) => {
                // The kept turns are the newest. Protected steps before them are not among the program's
                // turns.
                let stay = completed().rev().take_while(|index| !goes(index)).count();
                let end = turns.len().saturating_sub(stay);
                (turns[..end].iter().collect(), stay == 0)
            }
            None => {
                let turns = self.material.turns.iter().filter(|(index, _)| goes(index));
                let turns = turns.map(|(_, turn)| turn).collect();
                (turns, completed().next_back().is_some_and(goes))
            }
        };
        let texts = |texts: &[(usize, String)]| -> Vec<String> {
            let gone = texts.iter().filter(|(index, _)| goes(index));
            gone.map(|(_, text)| text.clone()).collect()
        };
        let past = Past {
            said: texts(&self.material.said),
            summaries: texts(&self.material.summaries),
            others: self
                .material
                .others
                .iter()
                .filter(|index| goes(index))
                .count() as u64,
            counts_replies: self.program_turns.is_none(),
            references: self.references(outcomes),
        };
        render(
            &TextSource {
                context: self.context,
                tools: &self.tools,
                turns: &turns,
                is_newest,
                past: &past,
            },
            limits,
        )
    }

    /// Returns the references of the newest replaced units, oldest first.
    fn references(&self, outcomes: &[UnitOutcome]) -> Vec<String> {
        const NEWEST: usize = 10;
        let gone = (0..outcomes.len())
            .rev()
            .filter(|index| outcomes[*index] == UnitOutcome::Coalesced);
        let newest = gone.filter_map(|index| self.conversation.reference(index));
        let mut references: Vec<String> = newest.take(NEWEST).collect();
        references.reverse();
        references
    }

    /// Returns where the text is inserted: at the end of the task's message if possible, else after it and
    /// the earlier summaries that follow it. Without a task: first, or after a first unit that must stay
    /// there.
    fn place(&self, outcomes: &[UnitOutcome]) -> (usize, Placement) {
        let task = self
            .task
            .filter(|task| outcomes[*task] != UnitOutcome::Coalesced);
        if let Some(task) = task {
            let behind = outcomes[task + 1..].iter();
            let summaries = behind
                .take_while(|outcome| **outcome == UnitOutcome::Summary)
                .count();
            let placement = match summaries == 0 && self.can_be_joined(task) {
                true => Placement::JoinBefore,
                false => Placement::Alone,
            };
            return (task + 1 + summaries, placement);
        }
        let is_instructions = |unit: &Unit| unit.kind == UnitKind::Instructions;
        // The result of a provider's own compaction may have to stay first.
        let stands_first = |index: usize, unit: &Unit| {
            index == 0
                && outcomes[index] != UnitOutcome::Coalesced
                && unit.traits.contains(Traits::OPAQUE)
        };
        let mut units = self.units.iter().enumerate();
        let place =
            units.position(|(index, unit)| !is_instructions(unit) && !stands_first(index, unit));
        (place.unwrap_or(self.units.len()), Placement::Alone)
    }

    /// Returns whether a text can be joined to the task: it must be one user message without outputs and
    /// without an earlier text. Otherwise the new text is a separate message, so that a later compaction
    /// can replace it.
    fn can_be_joined(&self, task: usize) -> bool {
        let messages = self.conversation.messages(task);
        let [message] = &messages[..] else {
            return false;
        };
        let parts = &message.parts;
        message.role == Role::User
            && !parts.is_empty()
            && !parts
                .iter()
                .any(|part| matches!(part.content, Content::Output(_)) || is_earlier_text(part))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::largest;

    /// What is found for numbers up to a limit, and the numbers that were looked at.
    fn looked_at(most: usize, limit: Option<usize>) -> (Option<usize>, Vec<usize>) {
        let seen = RefCell::new(Vec::new());
        let found = largest(most, |number| {
            seen.borrow_mut().push(number);
            limit.filter(|limit| number <= *limit).map(|_| number)
        });
        (found, seen.into_inner())
    }

    #[test]
    fn the_largest_number_is_found_with_few_looks() {
        assert_eq!(looked_at(9, Some(9)), (Some(9), vec![9]));
        assert_eq!(looked_at(0, None), (None, vec![0]));
        assert_eq!(looked_at(3, Some(1)), (Some(1), vec![3, 1, 2]));
        for limit in 0..=100 {
            assert_eq!(looked_at(100, Some(limit)).0, Some(limit));
        }
        let (found, seen) = looked_at(1_000_000, None);
        assert_eq!(found, None);
        assert_eq!(seen.last(), Some(&0));
        assert!(seen.len() <= 21, "{seen:?}");
    }
}
