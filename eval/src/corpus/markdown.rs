//! A Markdown file with many chats, as aider writes it.

use serde_json::{Value, json};

use super::{CHAT, Found};

/// The line that begins a chat.
const START: &str = "# aider chat started at";

/// The chats with more than one message. `####` is the user, `>` what the program printed, and
/// all else the model. What the program printed stands as the output of a call without
/// arguments, so that it is taken for nobody's words.
pub(super) fn chats(text: &str) -> Vec<Found> {
    let mut chats: Vec<Vec<Said>> = vec![Vec::new()];
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
        .map(|(place, chat)| Found::new(place, CHAT, document(&chat)))
        .collect()
}

/// Lines of one speaker, one after another.
struct Said {
    who: Who,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    User,
    Program,
    Model,
}

/// Blank lines part nobody.
fn add(chat: &mut Vec<Said>, line: &str) {
    let is_blank = line.trim().is_empty();
    let (who, line) = match (line.strip_prefix("####"), line.strip_prefix('>')) {
        (Some(rest), _) if rest.is_empty() || rest.starts_with(' ') => (Who::User, rest),
        (_, Some(rest)) => (Who::Program, rest),
        _ => (Who::Model, line),
    };
    let line = if who == Who::Model {
        line
    } else {
        line.strip_prefix(' ').unwrap_or(line)
    };
    match chat.last_mut() {
        Some(last) if is_blank || last.who == who => {
            last.text.push('\n');
            last.text.push_str(line);
        }
        _ if line.trim().is_empty() => {}
        _ => chat.push(Said {
            who,
            text: line.to_owned(),
        }),
    }
}

fn document(chat: &[Said]) -> String {
    let mut messages: Vec<Value> = Vec::new();
    for (place, said) in chat.iter().enumerate() {
        let text = said.text.trim_end();
        match said.who {
            Who::User => messages.push(json!({"role": "user", "content": text})),
            Who::Model => messages.push(json!({"role": "assistant", "content": text})),
            Who::Program => {
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
    fn a_line_tells_by_its_start_who_speaks() {
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
        assert_eq!(found, [Found::new(0, CHAT, document)]);
    }
}
