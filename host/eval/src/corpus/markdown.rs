//! Chat histories of aider: Markdown files with many chats.

use serde_json::{Value, json};

use super::{CHAT, Recording};

/// The line that begins a chat.
const START: &str = "# aider chat started at";

/// Reads the chats with more than one message. Lines with `####` are the user's, lines with `>` were printed
/// by aider, and all other lines are the model's. What aider printed becomes the output of a tool call
/// without arguments, because it is neither the user's nor the model's text.
pub(super) fn chats(text: &str) -> Vec<Recording> {
    let mut chats: Vec<Vec<Passage>> = vec![Vec::new()];
    for line in text.lines() {
        if line.starts_with(START) {
            chats.push(Vec::new());
        } else if let Some(chat) = chats.last_mut() {
            add(chat, line);
        }
    }
    chats
        .into_iter()
        .filter(|chat| chat.len() > 1)
        .enumerate()
        .map(|(place, chat)| Recording::new(place, CHAT, document(&chat)))
        .collect()
}

/// Consecutive lines of one speaker.
struct Passage {
    speaker: Speaker,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Program,
    Model,
}

/// Adds a line. A blank line does not begin a new passage.
fn add(chat: &mut Vec<Passage>, line: &str) {
    let is_blank = line.trim().is_empty();
    let (speaker, line) = match (line.strip_prefix("####"), line.strip_prefix('>')) {
        (Some(rest), _) if rest.is_empty() || rest.starts_with(' ') => (Speaker::User, rest),
        (_, Some(rest)) => (Speaker::Program, rest),
        _ => (Speaker::Model, line),
    };
    let line = if speaker == Speaker::Model {
        line
    } else {
        line.strip_prefix(' ').unwrap_or(line)
    };
    match chat.last_mut() {
        Some(last) if is_blank || last.speaker == speaker => {
            last.text.push('\n');
            last.text.push_str(line);
        }
        _ if line.trim().is_empty() => {}
        _ => chat.push(Passage {
            speaker,
            text: line.to_owned(),
        }),
    }
}

fn document(chat: &[Passage]) -> String {
    let mut messages: Vec<Value> = Vec::new();
    for (place, passage) in chat.iter().enumerate() {
        let text = passage.text.trim_end();
        match passage.speaker {
            Speaker::User => messages.push(json!({"role": "user", "content": text})),
            Speaker::Model => messages.push(json!({"role": "assistant", "content": text})),
            Speaker::Program => {
                let id = format!("p{place}");
                let call = json!({"id": id, "type": "function", "function": {"name": "aider", "arguments": "{}"}});
                match messages.last_mut() {
                    Some(last) if last["role"] == "assistant" => last["tool_calls"] = json!([call]),
                    _ => messages
                        .push(json!({"role": "assistant", "content": null, "tool_calls": [call]})),
                }
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            }
        }
    }
    json!({"messages": messages}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_line_says_who_speaks() {
        let found = chats(
            "# aider chat started at 2024\n\n> Aider v1\n>  two\n\n#### do it\n#### now\n\nDone.\n\n# A title\n####no\n# aider chat started at 2025\n> alone\n",
        );
        let call = json!({"id": "p0", "type": "function", "function": {"name": "aider", "arguments": "{}"}});
        let messages = [
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": "p0", "content": "Aider v1\n two"}),
            json!({"role": "user", "content": "do it\nnow"}),
            json!({"role": "assistant", "content": "Done.\n\n# A title\n####no"}),
        ];
        let document = json!({"messages": messages}).to_string();
        assert_eq!(found, [Recording::new(0, CHAT, document)]);
    }
}
