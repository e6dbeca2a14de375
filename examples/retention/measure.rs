//! What is looked for, and where. Reads the messages by itself: what the host thinks of a
//! conversation is what is being measured.

use baler_host::Conversation;
use serde_json::Value;

const ERRORS: [&str; 6] = [
    "error",
    "exception",
    "traceback",
    "failed",
    "fatal",
    "panicked",
];

/// The texts of a conversation.
pub(crate) struct Contents {
    /// Of the user's messages, tool outputs and inserted texts aside.
    user: Vec<String>,
    /// Of the tools' outputs.
    outputs: Vec<String>,
    /// All strings that stand anywhere in a message.
    all: String,
}

impl Contents {
    pub(crate) fn of(conversation: &Conversation) -> Self {
        let mut contents = Self {
            user: Vec::new(),
            outputs: Vec::new(),
            all: String::new(),
        };
        for unit in 0..conversation.units().len() {
            for raw in conversation.raw_messages(unit) {
                if let Ok(message) = serde_json::from_str::<Value>(raw) {
                    contents.add(&message);
                }
            }
        }
        contents
    }

    fn add(&mut self, message: &Value) {
        collect(message, &mut self.all);
        let content = &message["content"];
        let own = texts(content, "text");
        match message["role"].as_str() {
            Some("user") => {
                self.user
                    .extend(own.into_iter().filter(|text| !text.starts_with("<baler:")));
                for block in content.as_array().into_iter().flatten() {
                    if block["type"] == "tool_result" {
                        self.outputs.extend(texts(&block["content"], "text"));
                    }
                }
            }
            Some("tool") => self.outputs.extend(own),
            _ => {}
        }
    }

    /// The user's sentences that hold a rule.
    pub(crate) fn rules(&self) -> Vec<&str> {
        self.user
            .iter()
            .flat_map(|text| text.split(['.', '!', '?', '\n']))
            .map(str::trim)
            .filter(|sentence| is_rule(sentence))
            .collect()
    }

    /// The last line of the tools' outputs that tells of an error.
    pub(crate) fn last_error(&self) -> Option<&str> {
        self.outputs
            .iter()
            .flat_map(|text| text.lines())
            .map(str::trim)
            .rfind(|line| {
                let lower = line.to_lowercase();
                ERRORS.iter().any(|sign| lower.contains(sign))
            })
    }

    /// The share of `wanted` that stands here word for word.
    pub(crate) fn share_of(&self, wanted: &[&str]) -> f64 {
        let there = wanted
            .iter()
            .filter(|text| self.all.contains(**text))
            .count();
        there as f64 / wanted.len() as f64
    }
}

fn texts(content: &Value, kind: &str) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts
            .iter()
            .filter(|part| part["type"] == kind)
            .filter_map(|part| part["text"].as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

fn collect(value: &Value, all: &mut String) {
    match value {
        Value::String(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, all)),
        Value::Object(members) => members.values().for_each(|value| collect(value, all)),
        _ => {}
    }
}

fn is_rule(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    words
        .iter()
        .any(|word| matches!(*word, "never" | "always" | "must" | "don't" | "only"))
        || words.windows(2).any(|pair| pair == ["do", "not"])
}
