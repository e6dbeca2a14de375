//! Thinking after what a repair changed, for models that bind it to what came before.

use super::{Draft, Reading};
use crate::conversation::Conversation;
use crate::formats::is_alike;
use crate::model::envelope::Binding;
use crate::model::repair::Repairs;
use crate::model::rule::Rule;

/// Leaves out thinking that the provider would refuse now; `None` if there is none. From the
/// first message on that is not as it came in, all of it goes: a run up to the end may be left
/// out, one from the middle not (docs/wire-formats.md, "Bound thinking").
pub(super) fn leave_out_thinking(
    before: &Conversation,
    after: &Reading,
) -> Option<(Reading, Repairs)> {
    if after.envelope.binding != Binding::Refuses {
        return None;
    }
    let came_in = before.all_messages();
    let is_as_before = |index: &usize| {
        came_in
            .get(*index)
            .is_some_and(|message| is_alike(before.raw(message), after.message(*index)))
    };
    let first = (0..after.messages.len()).find(|index| !is_as_before(index))?;
    let mut draft = Draft::new(after, Rule::Anth5);
    for (index, message) in after.each().skip(first) {
        let thinking = message.thinking();
        if thinking.is_empty() {
            continue;
        }
        let what = "left out: thinking that is bound to earlier messages";
        if thinking.len() == message.parts.len() {
            draft.leave_out(index, what);
        } else {
            draft.cut_parts(index, &thinking, what);
        }
    }
    draft.finish()
}
