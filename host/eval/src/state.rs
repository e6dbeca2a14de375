//! The state of what is used later: what was done last with each file or id.

use std::collections::{HashMap, HashSet};

use crate::cases::Needed;
use crate::message::{Message, PartKind};
use crate::names::{self, Name, NameKind};
use crate::paths;

/// The fewest digits of a number that is an id and not a line or a size.
const DIGITS_OF_AN_ID: usize = 5;

/// What was done last with a name that is used later.
#[derive(Debug)]
pub(crate) struct LastAction {
    /// The distinguishing end of the path, or the id.
    end: String,
    /// The values of the call's arguments.
    call: String,
    /// Words of which one has to be in a line about it.
    words: Vec<String>,
}

/// Words for calls that change something, by parts of their tools' names.
const CHANGING: [&str; 16] = [
    "edit", "write", "create", "patch", "replace", "insert", "delete", "remove", "update",
    "cancel", "modify", "move", "rename", "add", "append", "exchange",
];

/// Words of a line that says that something was changed.
const CHANGED: [&str; 13] = [
    "edited", "wrote", "written", "created", "patched", "replaced", "inserted", "deleted",
    "removed", "updated", "changed", "moved", "renamed",
];

/// Words of a line that says that something was looked at.
const LOOKED: [&str; 7] = [
    "read", "viewed", "opened", "searched", "looked", "listed", "fetched",
];

/// Returns the last call of the history with each of these names that has been the argument of a call.
pub(crate) fn last_actions(history: &[&Message], needed: &[Needed]) -> Vec<LastAction> {
    let wanted = needed.iter().filter(|needed| is_file_or_id(&needed.name));
    let wanted: HashMap<&Name, &Needed> = wanted.map(|needed| (&needed.name, needed)).collect();
    let mut done: HashSet<Name> = HashSet::new();
    let mut actions = Vec::new();
    let parts = history
        .iter()
        .rev()
        .flat_map(|message| message.parts.iter().rev());
    for call in parts.filter(|part| part.kind == PartKind::Call) {
        names::each(&call.text, |kind, name| {
            let name = (kind, name.to_owned());
            if let Some(needed) = wanted.get(&name)
                && done.insert(name)
            {
                actions.push(LastAction {
                    end: needed.end.clone(),
                    call: call.text.clone(),
                    words: words_for(&call.tool, &call.text),
                });
            }
        });
    }
    actions
}

fn is_file_or_id((kind, name): &Name) -> bool {
    match kind {
        NameKind::Path | NameKind::Hex => true,
        NameKind::Number => name.len() >= DIGITS_OF_AN_ID,
        NameKind::Identifier => false,
    }
}

/// Returns words of which one is in a line that tells of such a call: for what the tool does, its name, or the
/// beginning of its command.
fn words_for(tool: &str, arguments: &str) -> Vec<String> {
    let tool = tool.to_lowercase();
    let known: &[&str] = match CHANGING
        .iter()
        .any(|word| tool.contains(word) || arguments.starts_with(word))
    {
        true => &CHANGED,
        false => &LOOKED,
    };
    let first_words: Vec<&str> = arguments.split_whitespace().take(2).collect();
    let mut words: Vec<String> = known.iter().map(|word| (*word).to_owned()).collect();
    words.extend([tool, first_words.join(" ").to_lowercase()]);
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the share of actions that a text tells of: by the call itself, or by a line with the name and what
/// was done. `None` if there are none.
pub(crate) fn kept(actions: &[LastAction], text: &str) -> Option<f64> {
    let lines: Vec<(&str, String)> = text
        .lines()
        .map(|line| (line, line.to_lowercase()))
        .collect();
    let is_told = |action: &&LastAction| {
        text.contains(&action.call)
            || lines.iter().any(|(line, lower)| {
                paths::is_in(line, &action.end)
                    && action
                        .words
                        .iter()
                        .any(|word| lower.contains(word.as_str()))
            })
    };
    let told = actions.iter().filter(is_told).count();
    (!actions.is_empty()).then(|| told as f64 / actions.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> Message {
        let call = serde_json::json!({"role": "assistant", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]});
        Message::read("openai-chat", &call.to_string())
    }

    #[test]
    fn the_last_action_is_told_by_the_call_or_a_line_with_what_was_done() {
        let history = [
            call("read_file", r#"{"path": "src/oven.rs"}"#),
            call("edit_file", r#"{"path": "src/oven.rs", "new": "hot"}"#),
            call("bash", r#"{"command": "cargo test src/dough.rs"}"#),
        ];
        let history: Vec<&Message> = history.iter().collect();
        let needed = ["src/oven.rs", "src/dough.rs", "src/salt.rs"].map(|path| Needed {
            end: path[4..].to_owned(),
            name: (NameKind::Path, path.to_owned()),
            is_far: false,
            in_arguments: false,
        });
        let actions = last_actions(&history, &needed);
        let share = |text: &str| kept(&actions, text);
        assert_eq!(
            share("- oven.rs: read, edited ×2\n- ran `cargo test src/dough.rs`"),
            Some(1.0)
        );
        assert_eq!(share("- oven.rs: read\ndough.rs"), Some(0.0));
        assert_eq!(share("hot\nsrc/oven.rs"), Some(0.5));
        assert_eq!(kept(&[], "oven.rs"), None);
    }
}
