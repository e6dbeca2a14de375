//! Compares a conversation that grew message by message with the same conversation read at once.

use baler_host::Conversation;

use crate::messages::Messages;

/// Describes the difference, if there is one. `messages` are those that both should have.
pub(super) fn difference(
    grown: &Conversation,
    whole: &Conversation,
    messages: &[&str],
) -> Option<&'static str> {
    let document = grown.document();
    let Some(written) = Messages::of(document) else {
        return Some("the document has no messages");
    };
    let Some(read) = Messages::of(whole.document()) else {
        return Some("the document that was read has no messages");
    };
    // White space between messages is the host's to choose where the document's own differs
    // from place to place; with the same white space the whole document is the same.
    let has_same_size = document.len() == whole.document().len();
    [
        (
            grown.format() == whole.format()
                && grown.tokenizer().name() == whole.tokenizer().name(),
            "the format or the tokenizer",
        ),
        (grown.units() == whole.units(), "the units"),
        (grown.tokens() == whole.tokens(), "the tokens"),
        (grown.overhead() == whole.overhead(), "the overhead"),
        (grown.media() == whole.media(), "the pictures"),
        (grown.violations() == whole.violations(), "the violations"),
        (grown.bytes() == document.len(), "the number of bytes"),
        (written.all == messages, "the messages of the document"),
        (
            written.head() == read.head() && written.tail() == read.tail(),
            "what stands around the messages",
        ),
        (
            !has_same_size || document == whole.document(),
            "the document",
        ),
    ]
    .into_iter()
    .find(|(is_same, _)| !is_same)
    .map(|(_, what)| what)
}
