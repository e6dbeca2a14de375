//! Logs that were made up for these tests.

mod claude_code;
mod claude_code_attachments;
mod claude_code_branches;
mod claude_code_kept;
mod claude_code_queue;
mod claude_code_validity;
mod codex;
mod codex_history;
mod pi;
mod pi_changes;
mod pi_wires;
mod gemini_cli;
mod gemini_cli_contents;
mod claude_stream;
mod cline;
mod opencode;
mod copilot;
mod droid;
mod call_ids;
mod hostile;
mod programs;
mod spelled;

use serde_json::Value;

use super::{Log, read};
use crate::marks::{self, SecretKey, Site};
use crate::model::log::LogError;

/// Lines as a file.
fn file(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What the reader makes of a text that is a log.
fn try_read(text: &str) -> Result<Log, LogError> {
    read(text, None).expect("it is a log")
}

fn log(lines: &[Value]) -> Log {
    try_read(&file(lines)).expect("it is whole")
}

fn body(log: &Log) -> Value {
    serde_json::from_str(&log.document).expect("the document is JSON")
}

/// The messages of a body, whatever their list is called. Recorded summaries come in brackets, in place
/// of their tags.
fn messages(log: &Log) -> Vec<Value> {
    let body = body(log);
    let mut messages = ["messages", "input", "contents"]
        .iter()
        .find_map(|key| body[key].as_array().cloned())
        .expect("there is a list");
    for index in &log.summaries {
        let text = match &mut messages[*index] {
            content if content.get("parts").is_some() => &mut content["parts"][0]["text"],
            message => &mut message["content"],
        };
        let marked = text.as_str().expect("a text");
        let opened = marks::open(&SecretKey::new([7; 32]), Site::User, marked).expect("has tags");
        *text = Value::from(format!("[{}]", opened.text));
    }
    messages
}

/// The first text of a message; empty if it has none.
fn text_of(message: &Value) -> &str {
    message["content"][0]["text"]
        .as_str()
        .or(message["content"].as_str())
        .unwrap_or("")
}

/// The first text of each message.
fn texts(log: &Log) -> Vec<String> {
    messages(log)
        .iter()
        .map(|message| text_of(message).to_owned())
        .collect()
}
