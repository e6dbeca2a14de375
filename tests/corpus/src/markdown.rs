//! A set that is one markdown file with many chats.

use serde_json::json;

use crate::{CHAT, Found};

/// The line that begins a chat.
const START: &str = "# aider chat started at";

/// The chats with more than one message. `####` is the user, `>` what the program printed, and
/// all else the model. What the program printed is no word of the user's, and no call asked
/// for it: it counts as the assistant's.
pub(crate) fn chats(text: &str) -> Vec<Found> {
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
        .map(|(place, chat)| (place, CHAT, document(&chat)))
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
    let messages: Vec<_> = chat
        .iter()
        .map(|said| {
            let role = match said.who {
                Who::User => "user",
                Who::Program | Who::Model => "assistant",
            };
            json!({"role": role, "content": said.text.trim_end()})
        })
        .collect();
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
        let messages = [
            json!({"role": "assistant", "content": "Aider v1\n two"}),
            json!({"role": "user", "content": "do it\nnow"}),
            json!({"role": "assistant", "content": "Done.\n\n# A title\n####no"}),
        ];
        assert_eq!(
            found,
            [(0, CHAT, json!({"messages": messages}).to_string())]
        );
    }
}
