//! Pictures that the provider refuses for their size. The host leaves them out of every result, whatever the strategy
//! decided, because the provider would refuse the whole request.

use std::borrow::Cow;

use baler_conversation::{Conversation, ReadError, edit};

use crate::changes::{Origin, UnitOutcome};
use crate::plan::Applied;
use crate::situation::Situation;
use crate::thinking::{loses_thinking, without_thinking};

/// Returns whether the provider refuses the conversation for a picture that the host may leave out.
pub(crate) fn are_refused(situation: &Situation) -> bool {
    let stays = |message| stays_whole(situation, message);
    // Whether there are any costs nothing.
    situation.conversation.has_refused_pictures()
        && !situation.conversation.refused_pictures(&stays).is_empty()
}

/// Returns whether it is enough to leave out refused pictures: all else fits.
pub(crate) fn are_all_that_is_wrong(situation: &Situation) -> bool {
    let mut exceeded = situation.exceeded_by(&situation.conversation, situation.target());
    are_refused(situation) && exceeded.all(|fault| situation.is_unreachable(&fault))
}

/// Returns whether the caller named the unit of a message, so that it stays byte-identical.
fn stays_whole(situation: &Situation, message: usize) -> bool {
    situation.stays_whole(situation.conversation.unit_of(message))
}

/// Puts the host's line in the place of each picture for whose size the provider refuses `result`, which `applied`
/// describes. Later thinking goes if the provider binds it to what comes before.
pub(crate) fn leave_out(
    mut applied: Applied,
    result: Conversation,
    situation: &Situation,
) -> Result<(Applied, Conversation), ReadError> {
    let before = &situation.conversation;
    let own_message = |message: usize| applied.origins.get(message)?.message();
    let stays =
        |message| own_message(message).is_none_or(|message| stays_whole(situation, message));
    let left_out = result.refused_pictures(&stays);
    let Some(first) = left_out.keys().next().copied() else {
        return Ok((applied, result));
    };
    let binding = before.envelope().binding;
    let drops_thinking = situation.request.policy.drops_thinking(binding);
    let loses_thinking = loses_thinking(&result);
    let mut messages: Vec<Cow<'_, str>> = Vec::with_capacity(applied.origins.len());
    let mut origins = Vec::with_capacity(applied.origins.len());
    let all = result.all_messages().iter().zip(&applied.origins);
    for (index, (message, origin)) in all.enumerate() {
        let changed = if let Some(replacements) = left_out.get(&index) {
            applied.pictures_left_out += replacements.len();
            Some(edit::replace(result.source(), &message.place, replacements))
        } else if drops_thinking
            && index > first
            && loses_thinking(index)
            && let Some(rest) = without_thinking(&result, message)
        {
            applied.thinking_removed += rest.blocks;
            rest.text
        } else {
            messages.push(Cow::Borrowed(result.raw(message)));
            origins.push(*origin);
            continue;
        };
        if let Some(own) = origin.message()
            && let Some(outcome) = applied.outcomes.get_mut(before.unit_of(own))
        {
            *outcome = UnitOutcome::Rewritten;
        }
        // A message of nothing but thinking goes as a whole.
        if let Some(text) = changed {
            messages.push(Cow::Owned(text));
            origins.push(origin.message().map_or(*origin, Origin::Changed));
        }
    }
    applied.document = result.frame().write(messages.iter().map(AsRef::as_ref));
    applied.origins = origins;
    let deadline = situation.request.deadline.as_ref();
    let result = before.read_alike(applied.document.clone(), deadline)?;
    Ok((applied, result))
}
