//! Tool outputs that the model has not seen yet: those behind its newest answer.
//!
//! A request that ends with outputs exists to show them to the model, so they are never removed
//! (invariant I4). Where they are too large for the budget the host itself shortens them: no
//! strategy can, so nothing in them is invented, and every strategy gets it right. What a plan
//! leaves of the budget is theirs; what they need at least is small, so that one giant output does
//! not put every budget out of reach. What the provider's own tools gave back in a turn that was
//! paused stays as well, whole.

use std::ops::Range;

use baler_conversation::Conversation;
use baler_conversation::message::{Message, Role};

/// The units with outputs that the model has not seen.
pub(crate) fn units(conversation: &Conversation) -> Range<usize> {
    let units = conversation.units();
    let answered = conversation.answered();
    let has_unseen = |unit: &usize| {
        let messages = conversation.messages(*unit);
        let behind = answered.saturating_sub(units[*unit].first_message);
        messages
            .get(behind..)
            .unwrap_or_default()
            .iter()
            .any(Message::answers)
    };
    let first = units.partition_point(|unit| unit.end() <= answered);
    let mut with_unseen = (first..units.len()).filter(has_unseen);
    match with_unseen.next() {
        // Outputs that stand together are units of their own only where their calls are lost.
        Some(start) => start..with_unseen.next_back().unwrap_or(start) + 1,
        None => 0..0,
    }
}

/// The units of what the provider's own tools gave back behind the model's last words, where a request
/// ends with it. Its turn was paused, and the request exists to have it go on; the model has not told
/// what came of it, and nothing calls those tools again. What ends a log was said.
pub(crate) fn paused(conversation: &Conversation) -> Range<usize> {
    let units = conversation.units();
    let mut paused = 0..0;
    if conversation.log().is_some() {
        return paused;
    }
    let messages = conversation.all_messages().iter().enumerate().rev();
    // Instructions may stand behind such a turn, and within it.
    let turn = messages
        .filter(|(_, message)| !message.role.instructs())
        .take_while(|(_, message)| message.role == Role::Assistant);
    for (index, message) in turn.filter(|(_, message)| !message.is_not_said) {
        let mut parts = message.parts.iter();
        let said = parts.rposition(|part| !conversation.is_silent(part));
        let behind = said.map_or(0, |said| said + 1);
        let has_results = message.parts[behind..]
            .iter()
            .any(|part| part.content.is_hosted());
        if has_results {
            let unit = units.partition_point(|unit| unit.end() <= index);
            let end = if paused.is_empty() {
                unit + 1
            } else {
                paused.end
            };
            paused = unit..end;
        }
        if said.is_some() {
            break;
        }
    }
    paused
}

/// The unit of words of the model's that end a request behind outputs that stay: it may be asked to go
/// on with them, or have said all. Without them the request would ask for something else.
pub(crate) fn last_words(conversation: &Conversation, unseen: &Range<usize>) -> Option<usize> {
    let last = conversation.last_said()?;
    let is_said = conversation.is_answer(&conversation.all_messages()[last]);
    let units = conversation.units();
    (is_said && !unseen.is_empty()).then(|| units.partition_point(|unit| unit.end() <= last))
}

/// The unit of the model's last message, where without it outputs of a unit that stays would be the last
/// of the result. The model has seen them; with nothing of its own behind them they would count as
/// unseen there, be answered once more, and be shortened by the next compaction (invariant I3).
pub(crate) fn answer_that_stays(conversation: &Conversation, stays: &[bool]) -> Option<usize> {
    let answered = conversation.answered();
    let answer = conversation
        .units()
        .partition_point(|unit| unit.end() < answered);
    let last = (0..answer)
        .rev()
        .filter(|unit| stays[*unit])
        .find_map(|unit| {
            let mut messages = conversation.messages(unit).iter().rev();
            messages.find(|message| message.answers() || conversation.is_answer(message))
        })?;
    (!conversation.is_answer(last) && !stays[answer]).then_some(answer)
}
