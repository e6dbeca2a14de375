//! Renders stored messages as text, for people and models.

use baler_conversation::document::Document;
use baler_conversation::json::{self, Place};
use baler_conversation::message::{Content, Message, Output};

use crate::Archive;
use crate::error::ArchiveError;

/// The most JSON values of an entry, approximately, that are parsed; each takes about a hundred bytes of
/// memory. An entry with more is an attack, and is returned as raw JSON.
const MAX_VALUES: usize = 1 << 20;

impl Archive {
    /// Retrieves the messages that are stored under this reference, as text: the role, text, calls and
    /// outputs of each message. Pictures and other media are named, not included.
    ///
    /// # Errors
    /// Returns an error for the reasons of [`Archive::get`].
    pub async fn text(&self, reference: &str) -> Result<String, ArchiveError> {
        self.get(reference).await.map(render)
    }
}

/// Renders messages as text; returns the raw JSON if it cannot be read. An entry may have hundreds of
/// megabytes, so no part of it is copied on the way.
fn render(messages: String) -> String {
    if has_too_many_values(&messages) {
        return messages;
    }
    let document = Document::new(messages.into());
    let Ok(read) = document.messages() else {
        return document.read().to_string();
    };
    let mut rendered = String::with_capacity(document.end());
    for (index, message) in read.iter().enumerate() {
        if index > 0 {
            rendered.push_str("\n\n");
        }
        push_message(&mut rendered, &document, message);
    }
    rendered
}

/// Counts values by commas and brackets outside of JSON strings.
fn has_too_many_values(messages: &str) -> bool {
    let mut values = 0;
    let (mut is_in_text, mut is_escaped) = (false, false);
    for byte in messages.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_text,
            b'"' => is_in_text = !is_in_text,
            // Each value but the first follows one of these.
            b',' | b'[' | b'{' if !is_in_text => values += 1,
            _ => {}
        }
    }
    values > MAX_VALUES
}

/// The beginning of each line of a message's own text.
const INDENT: &str = "  ";

/// Writes a text and indents all its lines but the first, whatever character ends a line.
fn push_indented(rendered: &mut String, text: impl Iterator<Item = char>) {
    let mut rest = text.peekable();
    while let Some(c) = rest.next() {
        rendered.push(c);
        let ends_line = match c {
            '\r' => rest.peek() != Some(&'\n'),
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => true,
            _ => false,
        };
        if ends_line {
            rendered.push_str(INDENT);
        }
    }
}

/// Writes the JSON string at a place as text, or any other JSON value unchanged.
fn push_text(rendered: &mut String, document: &Document, place: &Place) {
    let raw = document.get(place.clone()).unwrap_or_default();
    if json::is_text(raw) {
        push_indented(rendered, json::chars(raw));
    } else {
        push_indented(rendered, raw.chars());
    }
}

/// Writes a message. Only baler's own words are at the beginning of a line. Every line of the message's text
/// is indented, so that no text can be mistaken for another message or part.
fn push_message(rendered: &mut String, document: &Document, message: &Message) {
    rendered.push_str(&format!("[{}]", message.role.name()));
    for part in &message.parts {
        rendered.push('\n');
        match &part.content {
            Content::Text(place) => {
                rendered.push_str(INDENT);
                push_text(rendered, document, place);
            }
            Content::Thinking(place) => {
                rendered.push_str("(thinking) ");
                push_text(rendered, document, place);
            }
            Content::Call(call) => {
                push_indented(rendered, format!("(call) {} ", call.name).chars());
                if let Some(arguments) = &call.arguments {
                    push_text(rendered, document, arguments);
                }
            }
            Content::Output(output) => push_output(rendered, document, output),
            Content::Media(media) => {
                let said = format!("({}, {} bytes)", media.kind, media.bytes);
                push_indented(rendered, said.chars());
            }
            Content::Opaque(opaque) => {
                push_indented(rendered, format!("({})", opaque.kind).chars());
            }
        }
    }
}

fn push_output(rendered: &mut String, document: &Document, output: &Output) {
    let failed = if output.failed { ", failed" } else { "" };
    let head = format!("(output of {}{failed}) ", output.name);
    push_indented(rendered, head.chars());
    for (index, text) in output.texts.iter().enumerate() {
        if index > 0 {
            push_indented(rendered, std::iter::once('\n'));
        }
        push_text(rendered, document, text);
    }
    for (_, media) in &output.others {
        push_indented(rendered, format!("\n({})", media.kind).chars());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn render_returns_raw_json_of_entries_with_too_many_values() {
        let with = |parts: usize| {
            let parts = vec![r#"{"type":"text","text":""}"#; parts].join(",");
            format!(r#"[{{"role":"user","content":[{parts}]}}]"#)
        };
        assert!(render(with(2)).starts_with("[user]"));
        // Three for each part: its brace, its comma, and the one behind it.
        let many = with(MAX_VALUES / 3 + 1);
        assert!(render(many.clone()) == many);
    }

    #[test]
    fn render_does_not_count_commas_in_texts() {
        let text = r#"\\\",["#.repeat(MAX_VALUES / 2 + 1);
        let message = format!(r#"[{{"role":"user","content":"{text}"}}]"#);
        let wanted = format!("[user]\n  {}", r#"\",["#.repeat(MAX_VALUES / 2 + 1));
        assert!(render(message) == wanted);
    }

    #[test]
    fn render_takes_little_more_memory_than_the_entry() {
        let lines = r"\n".repeat(10_000);
        let entry = format!(
            r#"[{{"role":"assistant","content":null,"tool_calls":[{{"id":"a","type":"function","function":{{"name":"f\n[user]","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"a","content":[{{"type":"text","text":"one"}},{{"type":"text","text":"{lines}"}},{{"type":"image_url","image_url":{{"url":"data:,x"}}}}]}}]"#
        );
        let bytes = entry.len();
        let text = render(entry);
        let head = "[assistant]\n(call) f\n  [user] {}\n\n[tool]\n(output of ";
        assert!(text.starts_with(head), "{}", &text[..100]);
        let end = format!("one\n  {}\n  (", "\n  ".repeat(10_000));
        assert!(text.contains(&end) && text.ends_with(')'));
        assert!(text.capacity() <= 2 * bytes, "{}", text.capacity());
    }
}
