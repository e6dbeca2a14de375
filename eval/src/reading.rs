//! What a conversation says, read without a line of the host's: what the host makes of it is
//! what is being measured.

use serde_json::Value;

/// Characters that a picture counts as.
const PICTURE: usize = 4_800;

/// One message, as far as it is measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) who: Who,
    pub(crate) pieces: Vec<Piece>,
}

/// Who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Who {
    /// System and developer: it stays whatever is done and is not measured.
    Instructions,
    #[default]
    User,
    Assistant,
    Tool,
}

/// A piece of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: PieceKind,
    /// What is looked through. Of a call: the values of its arguments.
    pub(crate) text: String,
    /// Its size in characters. Of a call: that of its name and of the arguments as JSON.
    pub(crate) size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Text,
    Thinking,
    Call,
    Output,
    Media,
}

impl Said {
    /// Characters of its content.
    pub(crate) fn size(&self) -> usize {
        if self.who == Who::Instructions {
            return 0;
        }
        self.pieces.iter().map(|piece| piece.size).sum()
    }

    /// What it says, piece by piece, the model's thinking left out.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let pieces = self.pieces.iter();
        pieces
            .filter(|piece| piece.kind != PieceKind::Thinking)
            .map(|piece| piece.text.trim())
            .filter(|text| !text.is_empty())
    }

    /// Reads a message in the format of this name. What cannot be read says nothing.
    pub(crate) fn read(format: &str, raw: &str) -> Self {
        let Ok(message) = serde_json::from_str::<Value>(raw) else {
            return Self::default();
        };
        match format {
            "anthropic" => anthropic(&message),
            "openai-responses" => responses(&message),
            "gemini" => gemini(&message),
            _ => chat(&message),
        }
    }

    fn new(role: &Value) -> Self {
        let who = match role.as_str() {
            Some("system" | "developer") => Who::Instructions,
            Some("assistant" | "model") => Who::Assistant,
            Some("tool" | "function") => Who::Tool,
            _ => Who::User,
        };
        Self {
            who,
            pieces: Vec::new(),
        }
    }

    fn push(&mut self, kind: PieceKind, mut text: String) {
        if !text.is_empty() {
            let size = text.chars().count();
            if kind == PieceKind::Output
                && let Some(inner) = wrapped(&text)
            {
                text = inner;
            }
            self.pieces.push(Piece { kind, text, size });
        }
    }

    fn call(&mut self, name: &Value, arguments: &Value) {
        // Some formats have JSON in a string, some the value itself.
        let (raw, value) = match arguments {
            Value::String(text) => {
                let value = serde_json::from_str(text).unwrap_or_else(|_| arguments.clone());
                (text.clone(), value)
            }
            Value::Null => (String::new(), Value::Null),
            value => (value.to_string(), value.clone()),
        };
        let name = name.as_str().unwrap_or_default();
        let mut values = Vec::new();
        strings(&value, &mut values);
        self.pieces.push(Piece {
            kind: PieceKind::Call,
            text: values.join("\n"),
            size: name.chars().count() + raw.chars().count(),
        });
    }

    fn picture(&mut self) {
        self.pieces.push(Piece {
            kind: PieceKind::Media,
            text: String::new(),
            size: PICTURE,
        });
    }

    /// Text, or blocks of text and pictures.
    fn content(&mut self, kind: PieceKind, content: &Value) {
        match content {
            Value::String(text) => self.push(kind, text.clone()),
            Value::Array(blocks) => {
                let mut texts = Vec::new();
                for block in blocks {
                    if let Some(text) = block.as_str().or_else(|| block["text"].as_str()) {
                        texts.push(text);
                    } else if is_picture(block) {
                        self.picture();
                    }
                }
                self.push(kind, texts.join("\n"));
            }
            _ => {}
        }
    }
}

/// The text of an output that its program wrapped in JSON, as Codex does.
fn wrapped(output: &str) -> Option<String> {
    if !output.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(output).ok()?;
    value["output"].as_str().map(str::to_owned)
}

fn is_picture(block: &Value) -> bool {
    let kind = block["type"].as_str().unwrap_or_default();
    kind.contains("image") || kind == "document" || block.get("inlineData").is_some()
}

/// All strings and numbers in a value. Keys say nothing of what is in it.
pub(crate) fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(members) => members.values().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn chat(message: &Value) -> Said {
    let mut said = Said::new(&message["role"]);
    let kind = match said.who {
        Who::Tool => PieceKind::Output,
        _ => PieceKind::Text,
    };
    said.content(PieceKind::Thinking, &message["reasoning_content"]);
    said.content(kind, &message["content"]);
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        said.call(&function["name"], &function["arguments"]);
    }
    said
}

fn anthropic(message: &Value) -> Said {
    let mut said = Said::new(&message["role"]);
    let Some(blocks) = message["content"].as_array() else {
        said.content(PieceKind::Text, &message["content"]);
        return said;
    };
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => said.content(PieceKind::Text, &block["text"]),
            Some("thinking") => said.content(PieceKind::Thinking, &block["thinking"]),
            Some("tool_use") => said.call(&block["name"], &block["input"]),
            Some("tool_result") => said.content(PieceKind::Output, &block["content"]),
            _ if is_picture(block) => said.picture(),
            _ => {}
        }
    }
    said
}

fn responses(item: &Value) -> Said {
    let mut said = Said::new(&item["role"]);
    match item["type"].as_str() {
        Some("reasoning") => {
            said.who = Who::Assistant;
            said.content(PieceKind::Thinking, &item["summary"]);
        }
        Some("function_call" | "custom_tool_call") => {
            said.who = Who::Assistant;
            let arguments = item.get("arguments").unwrap_or(&item["input"]);
            said.call(&item["name"], arguments);
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            said.who = Who::Tool;
            said.content(PieceKind::Output, &item["output"]);
        }
        Some("message") | None => said.content(PieceKind::Text, &item["content"]),
        // Calls of the provider's own tools, and what nobody can read.
        Some(_) => said.who = Who::Assistant,
    }
    said
}

fn gemini(content: &Value) -> Said {
    let mut said = Said::new(&content["role"]);
    for part in content["parts"].as_array().into_iter().flatten() {
        let text = if part["thought"] == true {
            PieceKind::Thinking
        } else {
            PieceKind::Text
        };
        if let Some(call) = part.get("functionCall") {
            said.call(&call["name"], &call["args"]);
        } else if let Some(response) = part.get("functionResponse") {
            let mut values = Vec::new();
            strings(&response["response"], &mut values);
            said.push(PieceKind::Output, values.join("\n"));
        } else if is_picture(part) {
            said.picture();
        } else {
            said.content(text, &part["text"]);
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_says_the_same() {
        let call = |format, raw| Said::read(format, raw).pieces;
        let expected = [Piece {
            kind: PieceKind::Call,
            text: "W1\n7".to_owned(),
            size: "book".len() + r#"{"id":"W1","n":7}"#.len(),
        }];
        for (format, raw) in [
            (
                "openai-chat",
                r#"{"role": "assistant", "tool_calls": [{"function": {"name": "book", "arguments": "{\"id\":\"W1\",\"n\":7}"}}]}"#,
            ),
            (
                "anthropic",
                r#"{"role": "assistant", "content": [{"type": "tool_use", "name": "book", "input": {"id": "W1", "n": 7}}]}"#,
            ),
            (
                "openai-responses",
                r#"{"type": "function_call", "name": "book", "arguments": "{\"id\":\"W1\",\"n\":7}"}"#,
            ),
            (
                "gemini",
                r#"{"role": "model", "parts": [{"functionCall": {"name": "book", "args": {"id": "W1", "n": 7}}}]}"#,
            ),
        ] {
            assert_eq!(call(format, raw), expected, "{format}");
        }
    }

    #[test]
    fn instructions_have_no_size_and_pictures_have_one() {
        assert_eq!(
            Said::read(
                "openai-chat",
                r#"{"role": "system", "content": "Be kind."}"#
            )
            .size(),
            0
        );
        let picture = r#"{"role": "user", "content": [{"type": "image", "source": {}}, {"type": "text", "text": "日本"}]}"#;
        assert_eq!(Said::read("anthropic", picture).size(), PICTURE + 2);
    }
}
