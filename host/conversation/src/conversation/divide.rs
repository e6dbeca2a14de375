//! Divides messages into units.

use std::collections::HashSet;

use super::{Inner, is_note_for_model, opened};
use crate::marks::Purpose;
use crate::model::message::{Call, Content, Link, Meaning, Message, Role};
use crate::model::pairing::Pairing;
use crate::model::unit::{Traits, Unit, UnitKind};

impl Inner {
    /// Makes the unit of `length` messages from `first` on, and counts the turn.
    pub(super) fn unit(&self, first: usize, length: usize, turn: &mut u32) -> Unit {
        let messages = &self.messages[first..first + length];
        let mut traits = Traits::default();
        let mut media = 0;
        let mut purpose = None;
        let last = first + length == self.messages.len();
        for message in messages {
            traits.opaque |= message.opaque;
            for part in &message.parts {
                match &part.content {
                    Content::Thinking(_) => traits.thinking = true,
                    Content::Media(_) => media += 1,
                    Content::Output(output) => {
                        traits.failed |= output.failed;
                        media += u32::try_from(output.others.len()).unwrap_or(u32::MAX);
                    }
                    Content::Text(_) if message.role != Role::Assistant => {
                        let mark = opened(&self.document, &self.key, message, part);
                        match mark {
                            _ if message.is_recorded_summary => purpose = Some(Purpose::Summary),
                            // What stays of it is still the user's.
                            Some(mark) if mark.purpose == Purpose::Excerpt => {
                                traits.user_text |= message.role == Role::User;
                            }
                            Some(mark) if message.parts.len() == 1 => purpose = Some(mark.purpose),
                            Some(_) => {}
                            None => traits.user_text |= message.role == Role::User,
                        }
                    }
                    Content::Opaque(opaque) => {
                        traits.instructions |= opaque.meaning == Meaning::Instructions;
                    }
                    Content::Call(_) => traits.calls = true,
                    Content::Text(_) => {}
                }
            }
            // A user message of pictures alone is the user's own as well.
            traits.user_text |= message.role == Role::User
                && purpose.is_none()
                && !message.has_outputs()
                && message
                    .parts
                    .iter()
                    .any(|part| matches!(part.content, Content::Media(_)));
        }
        traits.media = media > 0;
        traits.provider_summary = messages.iter().any(Message::has_compaction);
        traits.instructions |= messages
            .iter()
            .any(|own| own.role.instructs() && !own.expires)
            && purpose.is_none();
        traits.pending = is_pending(messages, last);
        if matches!(messages, [only] if is_note_for_model(&self.document, &self.key, only)) {
            purpose = Some(Purpose::Note);
        }
        let kind = kind(messages, purpose);
        if kind == UnitKind::User {
            *turn += 1;
        }
        let per_message = self.tokenizer.per_message();
        let counts = self.counts[first..first + length].iter();
        Unit {
            kind,
            turn: *turn,
            first_message: first,
            messages: length,
            tokens: counts.fold(0, |sum: u32, counts| {
                sum.saturating_add(counts.total(per_message))
            }),
            bytes: messages.iter().map(|message| message.place.len()).sum(),
            media,
            traits,
        }
    }
}

/// Whether something in a unit waits for an answer: a call or a request for leave in the last one;
/// or at any place a call whose output may come at any time, or a request for the user's approval,
/// who may ask or do something else first.
fn is_pending(messages: &[Message], last: bool) -> bool {
    let opaques = || messages.iter().flat_map(Message::opaques);
    let asks: Vec<&str> = opaques()
        .filter(|opaque| last || opaque.meaning == Meaning::ApprovalRequest)
        .filter_map(|opaque| match &opaque.link {
            Link::Opens(id) => Some(id.as_str()),
            _ => None,
        })
        .collect();
    if !asks.is_empty() {
        let closed: HashSet<&str> = opaques()
            .filter_map(|opaque| match &opaque.link {
                Link::Closes(id) => Some(id.as_str()),
                _ => None,
            })
            .collect();
        if asks.iter().any(|id| !closed.contains(id)) {
            return true;
        }
    }
    let may_wait = |call: &Call| last || call.detached;
    messages.iter().flat_map(Message::calls).any(may_wait)
        && Pairing::of(messages).unanswered.into_iter().any(may_wait)
}

fn kind(messages: &[Message], purpose: Option<Purpose>) -> UnitKind {
    if let [only] = messages
        && only.has_compaction()
        && only.parts.len() == 1
    {
        return UnitKind::Summary;
    }
    if messages.first().is_some_and(|first| first.expires) {
        return UnitKind::Other;
    }
    match (messages.first().map(|message| message.role), purpose) {
        (Some(Role::Assistant), Some(Purpose::Note)) if messages.len() == 1 => UnitKind::Other,
        (Some(Role::Assistant), _) => UnitKind::Step,
        (Some(_), Some(Purpose::Summary)) => UnitKind::Summary,
        (Some(_), Some(Purpose::Note | Purpose::Rewritten | Purpose::Excerpt)) | (None, _) => {
            UnitKind::Other
        }
        (Some(Role::System | Role::Developer), None) => UnitKind::Instructions,
        (Some(Role::User), None) => UnitKind::User,
        (Some(Role::Tool), None) => UnitKind::Other,
    }
}
