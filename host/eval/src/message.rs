//! Messages, read independently of the host's code, because the host's results are what is measured.

use serde_json::Value;

/// The size of a picture, in characters.
const PICTURE: usize = 4_800;

/// The parts of a message that are measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) parts: Vec<Part>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Role {
    /// System or developer. Instructions are never removed, so they are not measured.
    Instructions,
    #[default]
    User,
    Assistant,
    Tool,
}

/// A part of a message's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) kind: PartKind,
    /// The text in which names are looked for. For a call: the values of its arguments.
    pub(crate) text: String,
    /// The size in characters. For a call: of its name and of the arguments as JSON.
    pub(crate) size: usize,
    /// The name of the tool that is called; empty for other parts.
    pub(crate) tool: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    Text,
    Thinking,
    Call,
    Output,
    Media,
}

impl Message {
    /// Returns the size of the content in characters; 0 for instructions.
    pub(crate) fn size(&self) -> usize {
        if self.role == Role::Instructions {
            return 0;
        }
        self.parts.iter().map(|part| part.size).sum()
    }

    /// Returns the texts of the parts, without thinking.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let parts = self.parts.iter();
        parts
            .filter(|part| part.kind != PartKind::Thinking)
            .map(|part| part.text.trim())
            .filter(|text| !text.is_empty())
    }

    /// Reads a message in the format of this name. A message that cannot be read is empty.
    pub(crate) fn read(format: &str, raw: &str) -> Self {
        let Ok(json) = serde_json::from_str::<Value>(raw) else {
            return Self::default();
        };
        match format {
            "anthropic" => anthropic(&json),
            "openai-responses" => responses(&json),
            "gemini" => gemini(&json),
            "bedrock-converse" => bedrock(&json),
            _ => chat(&json),
        }
    }

    fn new(role: &Value) -> Self {
        let role = match role.as_str() {
            Some("system" | "developer") => Role::Instructions,
            Some("assistant" | "model") => Role::Assistant,
            Some("tool" | "function") => Role::Tool,
            _ => Role::User,
        };
        Self {
            role,
            parts: Vec::new(),
        }
    }

    fn push(&mut self, kind: PartKind, mut text: String) {
        if !text.is_empty() {
            let size = text.chars().count();
            if kind == PartKind::Output
                && let Some(inner) = wrapped(&text)
            {
                text = inner;
            }
            self.add(kind, text, size, "");
        }
    }

    fn add(&mut self, kind: PartKind, text: String, size: usize, tool: &str) {
        self.parts.push(Part {
            kind,
            text,
            size,
            tool: tool.to_owned(),
        });
    }

    fn call(&mut self, name: &Value, arguments: &Value) {
        // Some formats hold the arguments as JSON in a string, others as a JSON value.
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
        let size = name.chars().count() + raw.chars().count();
        self.add(PartKind::Call, values.join("\n"), size, name);
    }

    fn picture(&mut self) {
        self.add(PartKind::Media, String::new(), PICTURE, "");
    }

    /// Adds a text, or blocks of text and pictures.
    fn content(&mut self, kind: PartKind, content: &Value) {
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

/// Returns the text of an output that the program wrapped in JSON, as Codex does.
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

/// Collects all strings and numbers in a value, without keys.
pub(crate) fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(members) => members.values().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn chat(json: &Value) -> Message {
    let mut message = Message::new(&json["role"]);
    let kind = match message.role {
        Role::Tool => PartKind::Output,
        _ => PartKind::Text,
    };
    message.content(PartKind::Thinking, &json["reasoning_content"]);
    message.content(kind, &json["content"]);
    for call in json["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        message.call(&function["name"], &function["arguments"]);
    }
    message
}

fn anthropic(json: &Value) -> Message {
    let mut message = Message::new(&json["role"]);
    let Some(blocks) = json["content"].as_array() else {
        message.content(PartKind::Text, &json["content"]);
        return message;
    };
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => message.content(PartKind::Text, &block["text"]),
            Some("thinking") => message.content(PartKind::Thinking, &block["thinking"]),
            Some("tool_use") => message.call(&block["name"], &block["input"]),
            Some("tool_result") => message.content(PartKind::Output, &block["content"]),
            _ if is_picture(block) => message.picture(),
            _ => {}
        }
    }
    message
}

fn responses(item: &Value) -> Message {
    let mut message = Message::new(&item["role"]);
    match item["type"].as_str() {
        Some("reasoning") => {
            message.role = Role::Assistant;
            message.content(PartKind::Thinking, &item["summary"]);
        }
        Some("function_call" | "custom_tool_call") => {
            message.role = Role::Assistant;
            let arguments = item.get("arguments").unwrap_or(&item["input"]);
            message.call(&item["name"], arguments);
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            message.role = Role::Tool;
            message.content(PartKind::Output, &item["output"]);
        }
        Some("message") | None => message.content(PartKind::Text, &item["content"]),
        // Calls of the provider's own tools, and encrypted content.
        Some(_) => message.role = Role::Assistant,
    }
    message
}

fn gemini(content: &Value) -> Message {
    let mut message = Message::new(&content["role"]);
    for part in content["parts"].as_array().into_iter().flatten() {
        let text = if part["thought"] == true {
            PartKind::Thinking
        } else {
            PartKind::Text
        };
        if let Some(call) = part.get("functionCall") {
            message.call(&call["name"], &call["args"]);
        } else if let Some(response) = part.get("functionResponse") {
            let mut values = Vec::new();
            strings(&response["response"], &mut values);
            message.push(PartKind::Output, values.join("\n"));
        } else if is_picture(part) {
            message.picture();
        } else {
            message.content(text, &part["text"]);
        }
    }
    message
}

fn bedrock(json: &Value) -> Message {
    let mut message = Message::new(&json["role"]);
    for block in json["content"].as_array().into_iter().flatten() {
        let reasoning = &block["reasoningContent"]["reasoningText"]["text"];
        if let Some(call) = block.get("toolUse") {
            message.call(&call["name"], &call["input"]);
        } else if let Some(result) = block.get("toolResult") {
            bedrock_result(&mut message, &result["content"]);
        } else if reasoning.is_string() {
            message.content(PartKind::Thinking, reasoning);
        } else if is_bedrock_picture(block) {
            message.picture();
        } else {
            message.content(PartKind::Text, &block["text"]);
            message.content(PartKind::Text, &block["guardContent"]["text"]["text"]);
            message.content(PartKind::Text, &block["citationsContent"]["content"]);
        }
    }
    message
}

/// Adds what a tool returned: texts, JSON and pictures.
fn bedrock_result(message: &mut Message, content: &Value) {
    let mut texts = Vec::new();
    for block in content.as_array().into_iter().flatten() {
        if is_bedrock_picture(block) {
            message.picture();
        } else {
            strings(&block["text"], &mut texts);
            strings(&block["json"], &mut texts);
        }
    }
    message.push(PartKind::Output, texts.join("\n"));
}

fn is_bedrock_picture(block: &Value) -> bool {
    block.get("image").is_some() || block.get("document").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_gives_the_same_parts_in_every_format() {
        let call = |format, raw| Message::read(format, raw).parts;
        let expected = [Part {
            kind: PartKind::Call,
            text: "W1\n7".to_owned(),
            size: "book".len() + r#"{"id":"W1","n":7}"#.len(),
            tool: "book".to_owned(),
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
            (
                "bedrock-converse",
                r#"{"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "book", "input": {"id": "W1", "n": 7}}}]}"#,
            ),
        ] {
            assert_eq!(call(format, raw), expected, "{format}");
        }
    }

    #[test]
    fn size_ignores_instructions_and_counts_pictures() {
        assert_eq!(
            Message::read(
                "openai-chat",
                r#"{"role": "system", "content": "Be kind."}"#
            )
            .size(),
            0
        );
        let picture = r#"{"role": "user", "content": [{"type": "image", "source": {}}, {"type": "text", "text": "日本"}]}"#;
        assert_eq!(Message::read("anthropic", picture).size(), PICTURE + 2);
        let result = r#"{"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "日本"}, {"json": {"n": 7}}, {"image": {}}]}}, {"reasoningContent": {"redactedContent": "c2ln"}}, {"guardContent": {"text": {"text": "ok"}}}]}"#;
        // Two, a line break, one; and two.
        assert_eq!(
            Message::read("bedrock-converse", result).size(),
            PICTURE + 4 + 2
        );
    }
}
