//! What stays, and which text stands for the rest.

use baler_strategy::{
    Content, Conversation, FreeBudget, Placement, Role, Situation, Traits, Unit, UnitKind,
    opening_note,
};

use crate::Config;
use crate::context::Context;
use crate::limits::Limits;
use crate::material::{Material, is_earlier_text};
use crate::stats::Stats;
use crate::text::{Past, Told, Tool, render};
use crate::turn::Turn;

/// Bytes that a mark and a message of its own add to a text, cautiously.
const MARK: usize = 256;

/// What is to be done.
#[derive(Debug)]
pub(crate) struct Choice {
    pub outcomes: Vec<UnitOutcome>,
    pub text: String,
    /// the text stands before this unit
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
    /// The code of its reason; units that are protected anyway need none.
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

/// The choice, or why there is none.
///
/// As many of the recent turns stay as fit beside a text, and the text says as much as fits
/// beside them: a turn as it was is worth more than a line about an older one.
pub(crate) fn choose(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
    context: &Context,
) -> Result<Choice, String> {
    let chooser = Chooser::new(conversation, situation, config, context);
    let recent = usize::try_from(config.keep_recent_turns).unwrap_or(usize::MAX);
    let most = recent.min(chooser.steps.len());
    // The more turns stay, the less room there is.
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
        // Nobody needs the room that recent turns take.
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

/// What is found for the largest number up to `most` for which something is. Each number costs a walk over the
/// whole conversation, so only `most` itself and then halves are looked at: where there is something for a number,
/// there is for the smaller ones.
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

/// What is the same whatever stays.
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

/// Which units stay as long as so many turns do.
struct Layout {
    outcomes: Vec<UnitOutcome>,
    recent: usize,
    room: FreeBudget,
}

impl Layout {
    /// Whether a text has something to stand for.
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
            // The text goes behind it, and must not stand between messages that are live.
            task: units.iter().position(|unit| {
                unit.kind == UnitKind::User && !unit.traits.contains(Traits::LIVE)
            }),
            steps: steps.collect(),
            fits_already: room.is_within_limits(),
        }
    }

    /// The newest turns begin with what the user said right before them.
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

    /// The longest text that fits. Where none does beside the earlier summaries, it carries
    /// them on.
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
        let bytes = text.len() + escaped + MARK;
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
                // Those that stay are the newest. What is protected before them is no turn that
                // the program still tells of.
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
            &Told {
                context: self.context,
                tools: &self.tools,
                turns: &turns,
                is_newest,
                past: &past,
            },
            limits,
        )
    }

    /// References of the newest units that go, oldest first.
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

    /// At the end of the task's message, where that can be; else behind it and the earlier summaries
    /// that stay there; else in front, or behind a first unit that nobody may move.
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
        // What a provider's own compaction left may have to stand first.
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

    /// One message of the user's without outputs. Where an earlier text has joined it already,
    /// the next one stands alone, so that a later compaction can replace it.
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
