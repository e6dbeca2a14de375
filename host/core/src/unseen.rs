//! Finds unseen tool outputs: those after the model's newest answer.
//!
//! A request that ends with outputs exists to show them to the model, so they are never removed (invariant
//! I4). If they are too large for the budget, the host shortens them. No strategy may do that, so nothing in
//! them is invented, and no strategy can get it wrong. They get the budget that a plan leaves. Their minimum
//! size is small, so that one giant output does not make every budget impossible. The results of the
//! provider's own tools in a paused turn are never removed either, and are not shortened.

use std::ops::Range;

use baler_conversation::Conversation;
use baler_conversation::message::{Message, Role};

/// Returns the units with unseen outputs.
pub(crate) fn units(conversation: &Conversation) -> Range<usize> {
    let units = conversation.units();
    let answered = conversation.answered();
    let has_unseen = |unit: &usize| {
        let messages = conversation.messages(*unit);
        let first_unseen = answered.saturating_sub(units[*unit].first_message);
        messages
            .get(first_unseen..)
            .unwrap_or_default()
            .iter()
            .any(Message::answers)
    };
    let first = units.partition_point(|unit| unit.end() <= answered);
    let mut with_unseen = (first..units.len()).filter(has_unseen);
    match with_unseen.next() {
        // Adjacent outputs are in separate units only if their calls are missing.
        Some(start) => start..with_unseen.next_back().unwrap_or(start) + 1,
        None => 0..0,
    }
}

/// Returns the units with results of the provider's own tools after the model's last text, if the request
/// ends with them: the turn was paused, and the request exists to continue it. The model has not answered
/// these results yet, and nothing calls the tools again. In a session log the range is empty: what ends a log
/// was answered.
pub(crate) fn paused(conversation: &Conversation) -> Range<usize> {
    let mut paused = 0..0;
    if conversation.log().is_some() {
        return paused;
    }
    let messages = conversation.all_messages().iter().enumerate().rev();
    // Instructions may come after such a turn and within it.
    let turn = messages
        .filter(|(_, message)| !message.role.instructs())
        .take_while(|(_, message)| message.role == Role::Assistant);
    for (index, message) in turn.filter(|(_, message)| !message.is_not_said) {
        let mut parts = message.parts.iter();
        let last_text = parts.rposition(|part| !conversation.is_silent(part));
        let first_result = last_text.map_or(0, |last| last + 1);
        let has_results = message.parts[first_result..]
            .iter()
            .any(|part| part.content.is_hosted());
        if has_results {
            let unit = conversation.unit_of(index);
            let end = if paused.is_empty() {
                unit + 1
            } else {
                paused.end
            };
            paused = unit..end;
        }
        if last_text.is_some() {
            break;
        }
    }
    paused
}

/// Returns the unit of a model text that ends a request with unseen outputs. The model may have to continue
/// this text, or it may be complete; without it the request would ask for something else.
pub(crate) fn last_words(conversation: &Conversation, unseen: &Range<usize>) -> Option<usize> {
    let last = conversation.last_said()?;
    let is_said = conversation.is_answer(&conversation.all_messages()[last]);
    (is_said && !unseen.is_empty()).then(|| conversation.unit_of(last))
}

/// Returns the unit of the model's last answer, if without it the result would end with outputs of a
/// protected unit. The model has answered these outputs. Without the answer they would count as unseen: the
/// model would answer them again, and the next compaction would shorten them (invariant I3).
pub(crate) fn required_answer(conversation: &Conversation, protected: &[bool]) -> Option<usize> {
    let answered = conversation.answered();
    let answer = conversation
        .units()
        .partition_point(|unit| unit.end() < answered);
    let last = (0..answer)
        .rev()
        .filter(|unit| protected[*unit])
        .find_map(|unit| {
            let mut messages = conversation.messages(unit).iter().rev();
            messages.find(|message| message.answers() || conversation.is_answer(message))
        })?;
    (!conversation.is_answer(last) && !protected[answer]).then_some(answer)
}
