//! Messages without their thinking.

use baler_conversation::edit::{self, Replacement};
use baler_conversation::message::{Content, Meaning, Message};
use baler_conversation::{Conversation, UnitKind};

use crate::content_list::without;

/// A message without its thinking.
pub(crate) struct WithoutThinking {
    /// The rest of the message; `None` if it held nothing else but white space.
    pub(crate) text: Option<String>,
    /// Number of removed blocks.
    pub(crate) blocks: usize,
}

/// Removes the thinking of a message; `None` if it has none.
pub(crate) fn without_thinking(
    conversation: &Conversation,
    message: &Message,
) -> Option<WithoutThinking> {
    let place = message.content.clone()?;
    let thinking = message.thinking_in_content();
    if thinking.is_empty() {
        return None;
    }
    let blocks = thinking.len();
    let text = holds_more_than_thinking(conversation, message).then(|| {
        let document = conversation.source();
        let with = without(document, message, &place, &thinking, &[]);
        edit::replace(document, &message.place, &[Replacement { place, with }])
    });
    Some(WithoutThinking { text, blocks })
}

/// Whether a message still says something without its thinking. White space alone does not count: a provider
/// may accept it beside other parts only (ANTH-6).
pub(crate) fn holds_more_than_thinking(conversation: &Conversation, message: &Message) -> bool {
    message.parts.iter().any(|part| match &part.content {
        Content::Text(place) => !conversation.text(place).trim().is_empty(),
        // A mark for the cache says nothing.
        Content::Opaque(opaque) if opaque.meaning == Meaning::Empty => false,
        content => !content.is_thinking(),
    })
}

/// Returns whether a message after a change loses its thinking, given its index: all but those of the newest step's turn,
/// if the request requires thinking at the start of an open loop (ANTH-5).
pub(crate) fn loses_thinking(conversation: &Conversation) -> impl Fn(usize) -> bool {
    let units = conversation.units();
    let newest = units.iter().rfind(|unit| unit.kind == UnitKind::Step);
    let spared = newest
        .filter(|_| conversation.envelope().wants_thinking())
        .map(|unit| unit.turn);
    move |message| {
        let unit = units.get(conversation.unit_of(message));
        unit.map(|unit| unit.turn) != spared
    }
}
