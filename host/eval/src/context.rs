//! Separates what a result kept word for word from what a strategy wrote, and of the latter the lines that
//! say something about the names in them.

use std::collections::HashSet;

use crate::message::{Message, Role};
use crate::names;
use crate::needs::Together;

/// The heading under which digests list names that came up. Its lines say nothing about them.
const NAMES: &str = "## Names that came up";

/// A line with more names than this is a mere list if most of its words are names.
const FEW_NAMES: usize = 12;

/// The text of a result.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// All of it, without instructions.
    pub(crate) text: String,
    /// The parts that the history has as well, and lines that say something about the names in them.
    pub(crate) in_context: String,
    /// What a reader takes in together.
    pub(crate) together: Together,
    /// The size of the content, in characters.
    pub(crate) size: usize,
}

impl Shown {
    /// Returns the text of messages of the history.
    pub(crate) fn kept(messages: &[Message]) -> Self {
        let parts = messages.iter().flat_map(|message| &message.parts);
        let text: String = parts.map(|part| format!("{}\n", part.text)).collect();
        Self {
            together: Together::of(messages, |_| true),
            ..Self::text(text)
        }
    }

    /// Returns a text that consists of parts of the history.
    pub(crate) fn text(text: String) -> Self {
        Self {
            in_context: text.clone(),
            together: Together::written(&text),
            size: text.chars().count(),
            text,
        }
    }

    /// Returns the text of a result of compacting `history`.
    pub(crate) fn of(history: &[Vec<Message>], result: &[Vec<Message>]) -> Self {
        let parts = history.iter().flatten().flat_map(|message| &message.parts);
        let known: HashSet<&str> = parts.map(|part| part.text.as_str()).collect();
        let messages = || result.iter().flatten();
        let mut shown = Self {
            together: Together::of(messages(), |text| known.contains(text)),
            ..Self::default()
        };
        for message in messages().filter(|message| message.role != Role::Instructions) {
            shown.size += message.size();
            for part in &message.parts {
                shown.text.push_str(&part.text);
                shown.text.push('\n');
                if known.contains(part.text.as_str()) {
                    shown.in_context.push_str(&part.text);
                    shown.in_context.push('\n');
                } else {
                    for line in telling_lines(&part.text) {
                        shown.in_context.push_str(line);
                        shown.in_context.push('\n');
                    }
                }
            }
        }
        shown
    }
}

/// Returns the lines of a text that say something about the names in them.
fn telling_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut is_list = false;
    text.lines().filter(move |line| {
        if line.starts_with("## ") || line.starts_with("</") {
            is_list = line.trim_end() == NAMES;
        }
        !is_list && !is_mere_list(line)
    })
}

fn is_mere_list(line: &str) -> bool {
    let mut found = HashSet::new();
    names::each(line, |_, name| {
        found.insert(name);
    });
    let words = line
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| word.chars().any(char::is_alphanumeric));
    found.len() > FEW_NAMES && found.len() * 2 > words.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Vec<Message> {
        let raw = serde_json::json!({"role": "user", "content": text}).to_string();
        vec![Message::read("openai-chat", &raw)]
    }

    #[test]
    fn lists_of_names_are_no_context_except_in_kept_parts() {
        let files = (0..14).map(|number| format!("oven{number}.rs"));
        let list = files.collect::<Vec<String>>().join(", ");
        let list = list.as_str();
        let digest = format!(
            "## History\n- oven.rs: edited\n- {list}\n\n## Names that came up\n- the user: salt.rs\n## To-do list\n- bake_bread"
        );
        let shown = Shown::of(&[message(list)], &[message(&digest)]);
        assert_eq!(
            shown.in_context,
            "## History\n- oven.rs: edited\n\n## To-do list\n- bake_bread\n"
        );
        assert_eq!(shown.text.trim_end(), digest);
        let shown = Shown::of(&[message(list)], &[message(list)]);
        assert_eq!(shown.in_context.trim_end(), list);
        // Few names, or more words than names, say something.
        assert!(!is_mere_list("oven.rs, dough.rs"));
        assert!(!is_mere_list(&format!(
            "Of all the files that are in this folder here the ones that I name now are stale: {list}, so read them once again"
        )));
    }
}
