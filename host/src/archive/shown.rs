//! Stored messages as text, for people and models.

use baler_conversation::document::Document;
use baler_conversation::json::{self, Place};
use baler_conversation::message::{Content, Message, Output};

use super::Archive;
use crate::error::ArchiveError;

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
        self.get(reference).await.map(shown)
    }
}

/// Messages as text; as they stand where they cannot be read. An entry may have hundreds of
/// megabytes, so nothing of it is held twice on the way.
fn shown(messages: String) -> String {
    if has_too_many_values(&messages) {
        return messages;
    }
    let document = Document::new(messages.into());
    let Ok(read) = document.messages() else {
        return document.read().to_string();
    };
    let mut shown = String::with_capacity(document.end());
    for (index, message) in read.iter().enumerate() {
        if index > 0 {
            shown.push_str("\n\n");
        }
        push_message(&mut shown, &document, message);
    }
    shown
}

/// Commas and brackets in a text are none of the entry's.
fn has_too_many_values(messages: &str) -> bool {
    let mut values = 0;
    let (mut is_in_text, mut is_escaped) = (false, false);
    for byte in messages.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_text,
            b'"' => is_in_text = !is_in_text,
            // Each value but the first stands behind one of these.
            b',' | b'[' | b'{' if !is_in_text => values += 1,
            _ => {}
        }
    }
    values > MOST_VALUES
}

/// Stands before every line of what a message says.
const INDENT: &str = "  ";

/// Writes a text with all its lines but the first indented, whatever ends them.
fn push_indented(shown: &mut String, text: impl Iterator<Item = char>) {
    let mut rest = text.peekable();
    while let Some(c) = rest.next() {
        shown.push(c);
        let ends_line = match c {
            '\r' => rest.peek() != Some(&'\n'),
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => true,
            _ => false,
        };
        if ends_line {
            shown.push_str(INDENT);
        }
    }
}

/// Writes the text that lies at a place, or the JSON as it stands where that is none.
fn push_text(shown: &mut String, document: &Document, place: &Place) {
    let raw = document.get(place.clone()).unwrap_or_default();
    if json::is_text(raw) {
        push_indented(shown, json::chars(raw));
    } else {
        push_indented(shown, raw.chars());
    }
}

/// Only what stands at the beginning of a line was written by baler; of what a message says every
/// line is indented, so that none of it can be taken for another message or part.
fn push_message(shown: &mut String, document: &Document, message: &Message) {
    shown.push_str(&format!("[{}]", message.role.name()));
    for part in &message.parts {
        shown.push('\n');
        match &part.content {
            Content::Text(place) => {
                shown.push_str(INDENT);
                push_text(shown, document, place);
            }
            Content::Thinking(place) => {
                shown.push_str("(thinking) ");
                push_text(shown, document, place);
            }
            Content::Call(call) => {
                push_indented(shown, format!("(call) {} ", call.name).chars());
                if let Some(arguments) = &call.arguments {
                    push_text(shown, document, arguments);
                }
            }
            Content::Output(output) => push_output(shown, document, output),
            Content::Media(media) => {
                let said = format!("({}, {} bytes)", media.kind, media.bytes);
                push_indented(shown, said.chars());
            }
            Content::Opaque(opaque) => {
                push_indented(shown, format!("({})", opaque.kind).chars());
            }
        }
    }
}

fn push_output(shown: &mut String, document: &Document, output: &Output) {
    let failed = if output.failed { ", failed" } else { "" };
    let head = format!("(output of {}{failed}) ", output.name);
    push_indented(shown, head.chars());
    for (index, text) in output.texts.iter().enumerate() {
        if index > 0 {
            push_indented(shown, std::iter::once('\n'));
        }
        push_text(shown, document, text);
    }
    for (_, media) in &output.others {
        push_indented(shown, format!("\n({})", media.kind).chars());
    }
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
        assert!(shown(with(2)).starts_with("[user]"));
        // Three for each part: its brace, its comma, and the one behind it.
        let many = with(MOST_VALUES / 3 + 1);
        assert!(shown(many.clone()) == many);
    }

    #[test]
    fn shown_counts_no_commas_in_texts() {
        let text = r#"\\\",["#.repeat(MOST_VALUES / 2 + 1);
        let message = format!(r#"[{{"role":"user","content":"{text}"}}]"#);
        let wanted = format!("[user]\n  {}", r#"\",["#.repeat(MOST_VALUES / 2 + 1));
        assert!(shown(message) == wanted);
    }

    #[test]
    fn shown_takes_little_more_room_than_the_entry_however_many_lines_it_has() {
        let lines = r"\n".repeat(10_000);
        let entry = format!(
            r#"[{{"role":"assistant","content":null,"tool_calls":[{{"id":"a","type":"function","function":{{"name":"f\n[user]","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"a","content":[{{"type":"text","text":"one"}},{{"type":"text","text":"{lines}"}},{{"type":"image_url","image_url":{{"url":"data:,x"}}}}]}}]"#
        );
        let bytes = entry.len();
        let text = shown(entry);
        let head = "[assistant]\n(call) f\n  [user] {}\n\n[tool]\n(output of ";
        assert!(text.starts_with(head), "{}", &text[..100]);
        let end = format!("one\n  {}\n  (", "\n  ".repeat(10_000));
        assert!(text.contains(&end) && text.ends_with(')'));
        assert!(text.capacity() <= 2 * bytes, "{}", text.capacity());
    }
}
