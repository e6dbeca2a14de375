//! Stored messages as text, for people and models.

use super::{Archive, ArchiveError};
use crate::conversation::Document;
use crate::conversation::message::{Content, Message, text_at};
use crate::formats::{Body, Format};

/// The most values of an entry, about, that are told apart; each takes some hundred bytes. What has
/// more was made for that, and is shown as it stands.
const MOST_VALUES: usize = 1 << 20;

impl Archive {
    /// The messages that are stored under this reference, as text: who wrote each, what it says,
    /// calls and outputs. Pictures and the like are named, not shown.
    ///
    /// # Errors
    /// As [`Archive::get`].
    pub async fn text(&self, reference: &str) -> Result<String, ArchiveError> {
        self.get(reference).await.map(|messages| shown(&messages))
    }
}

/// Messages as text; as they stand where they cannot be read.
fn shown(messages: &str) -> String {
    // Each value but the first stands behind one of these.
    let begin_one = |byte: &u8| matches!(*byte, b',' | b'[' | b'{');
    if messages.bytes().filter(begin_one).count() > MOST_VALUES {
        return messages.to_owned();
    }
    let document = Document::from(messages);
    let read = Body::parse(messages, None).and_then(|mut body| {
        let format = Format::detect(&body);
        format.wire().messages(&mut body)
    });
    match read {
        Err(_) => messages.to_owned(),
        Ok(read) => read
            .iter()
            .map(|message| shown_message(&document, message))
            .collect::<Vec<_>>()
            .join("\n\n"),
    }
}

/// Stands before every line of what a message says.
const INDENT: &str = "  ";

/// A text with all its lines but the first indented, whatever ends them.
fn indented(text: &str) -> String {
    let mut indented = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        indented.push(c);
        let ends_line = match c {
            '\r' => rest.peek() != Some(&'\n'),
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => true,
            _ => false,
        };
        if ends_line {
            indented.push_str(INDENT);
        }
    }
    indented
}

/// Only what stands at the beginning of a line was written by baler; of what a message says every
/// line is indented, so that none of it can be taken for another message or part.
fn shown_message(document: &Document, message: &Message) -> String {
    let mut lines = vec![format!("[{}]", message.role.name())];
    for part in &message.parts {
        let text = match &part.content {
            Content::Text(place) => format!("{INDENT}{}", text_at(document, place)),
            Content::Thinking(place) => format!("(thinking) {}", text_at(document, place)),
            Content::Call(call) => {
                let arguments = call.arguments.as_ref();
                let arguments = arguments
                    .map_or_else(String::new, |place| text_at(document, place).into_owned());
                format!("(call) {} {arguments}", call.name)
            }
            Content::Output(output) => {
                let failed = if output.failed { ", failed" } else { "" };
                let media: String = output
                    .others
                    .iter()
                    .map(|(_, media)| format!("\n({})", media.kind))
                    .collect();
                let text = output.text(document);
                format!("(output of {}{failed}) {text}{media}", output.name)
            }
            Content::Media(media) => format!("({}, {} bytes)", media.kind, media.bytes),
            Content::Opaque(opaque) => format!("({})", opaque.kind),
        };
        lines.push(indented(&text));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_tells_messages_apart_unless_they_have_too_many_values() {
        let with = |parts: usize| {
            let parts = vec![r#"{"type":"text","text":""}"#; parts].join(",");
            format!(r#"[{{"role":"user","content":[{parts}]}}]"#)
        };
        assert!(shown(&with(2)).starts_with("[user]"));
        // Three for each part: its brace, its comma, and the one behind it.
        let many = with(MOST_VALUES / 3 + 1);
        assert!(shown(&many) == many);
    }
}
