//! Counts a conversation in events of OpenHands.

use baler_strategy::{Content, Conversation, Traits, Unit, UnitKind};

/// Returns the number of events of each unit.
pub(crate) fn numbers(conversation: &Conversation<'_>) -> Vec<u32> {
    let units = conversation.units();
    let number = |(index, unit): (usize, &Unit)| match has_calls(unit) {
        true => calls_and_outputs(conversation, index).max(1),
        false => 1,
    };
    units.iter().enumerate().map(number).collect()
}

fn calls_and_outputs(conversation: &Conversation<'_>, unit: usize) -> u32 {
    let messages = conversation.messages(unit);
    let parts = messages.iter().flat_map(|message| &message.parts);
    let events = parts.filter(|part| matches!(part.content, Content::Call(_) | Content::Output(_)));
    u32::try_from(events.count()).unwrap_or(u32::MAX)
}

fn has_calls(unit: &Unit) -> bool {
    unit.kind == UnitKind::Step && unit.traits.contains(Traits::CALLS)
}

/// Returns the number of all events, of which the system prompt is one, whether it is a unit or not.
pub(crate) fn total(conversation: &Conversation<'_>, numbers: &[u32]) -> u32 {
    let system = u32::from(!begins_with_system(conversation.units()));
    numbers.iter().copied().fold(system, u32::saturating_add)
}

fn begins_with_system(units: &[Unit]) -> bool {
    let first = units.first();
    first.is_some_and(|unit| unit.kind == UnitKind::Instructions)
}

/// Returns the units that stay, most important first: those of the first events, then those that are among the newest as a
/// whole.
pub(crate) fn wanted(
    conversation: &Conversation<'_>,
    numbers: &[u32],
    first: u32,
    newest: u32,
) -> Vec<usize> {
    let units = conversation.units();
    let mut left = first.saturating_sub(u32::from(!begins_with_system(units)));
    let mut start = 0;
    while start < units.len() && (left > 0 || is_inside_block(units, start)) {
        left = left.saturating_sub(numbers[start]);
        start += 1;
    }
    let mut left = newest;
    let mut end = units.len();
    while end > start && numbers[end - 1] <= left {
        left -= numbers[end - 1];
        end -= 1;
    }
    while is_inside_block(units, end) {
        end += 1;
    }
    (0..start)
        .chain((end.max(start)..units.len()).rev())
        .collect()
}

/// Returns whether a cut before this unit would divide steps that one thought began.
fn is_inside_block(units: &[Unit], at: usize) -> bool {
    let goes_on = |unit: &Unit| has_calls(unit) && !unit.traits.contains(Traits::THINKING);
    if !units.get(at).is_some_and(goes_on) {
        return false;
    }
    let before = units[..at].iter().rev().take_while(|unit| has_calls(unit));
    before
        .into_iter()
        .any(|unit| unit.traits.contains(Traits::THINKING))
}
