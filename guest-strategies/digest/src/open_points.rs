//! Unfinished work, read from the agent's own words and its to-do lists.

use serde_json::Value;

use super::text;

/// Most bytes of a line, and most lines of one text.
const LIMIT: usize = 300;
const LINES: usize = 8;

/// Most entries of a to-do list.
const TASKS: usize = 60;

/// Beginnings of lines that say what comes next.
const SIGNS: [&str; 14] = [
    "todo",
    "to do",
    "to-do",
    "[ ]",
    "next",
    "remaining",
    "still ",
    "open:",
    "plan",
    "i will ",
    "i'll ",
    "i need to",
    "we need to",
    "not yet",
];

/// Returns lines of an assistant's text that say what is still to be done. A list below such a line belongs
/// to it.
pub(super) fn lines(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_list = false;
    let mut is_code = false;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with(text::FENCE) {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let bare = line.trim_start_matches(|c: char| {
            matches!(c, '#' | '-' | '*' | '>' | '•') || c.is_whitespace()
        });
        let says = SIGNS.iter().any(|sign| {
            bare.get(..sign.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(sign))
        });
        let is_item = line.starts_with(['-', '*', '•'])
            || line.split_once(['.', ')']).is_some_and(|(number, _)| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            });
        if says || (in_list && is_item) {
            found.push(text::line(bare, LIMIT));
            // The end of a text says what comes next, not its beginning.
            if found.len() > LINES {
                found.remove(0);
            }
        }
        in_list = says || (in_list && is_item);
    }
    found
}

/// Returns the to-do list in the arguments of a call, with the state of each entry; `None` if there is none.
pub(super) fn tasks(arguments: &str) -> Option<Vec<String>> {
    if !arguments.contains("status") {
        return None;
    }
    let Some(Value::Object(members)) = text::parsed(arguments) else {
        return None;
    };
    let tasks: Vec<String> = members
        .values()
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|entry| {
            let state = state(entry.get("status")?.as_str()?);
            let what = [
                "content",
                "title",
                "task",
                "text",
                "name",
                "step",
                "description",
            ]
            .iter()
            .find_map(|name| entry.get(name)?.as_str())?;
            Some(text::line(&format!("{state} {what}"), LIMIT))
        })
        .take(TASKS)
        .collect();
    (!tasks.is_empty()).then_some(tasks)
}

/// Returns the box of an entry with this status. Whole words count: `incomplete` and `undone` are not done.
fn state(status: &str) -> &'static str {
    let status = status.to_ascii_lowercase();
    let says = |words: &[&str]| {
        let mut own = status.split(|c: char| !c.is_alphanumeric());
        own.any(|word| words.contains(&word))
    };
    if says(&["not", "never", "no"]) {
        "[ ]"
    } else if says(&["cancel", "cancelled", "canceled", "abandoned", "skipped"]) {
        "[-]"
    } else if says(&[
        "progress",
        "inprogress",
        "doing",
        "active",
        "partly",
        "partially",
    ]) {
        "[>]"
    } else if says(&[
        "complete",
        "completed",
        "done",
        "closed",
        "finished",
        "resolved",
    ]) {
        "[x]"
    } else {
        "[ ]"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_points_are_found_with_their_lists() {
        let text = "The parser is fixed.\n\n## Next steps\n1. Add a test\n2. Update the docs\n\nThat is all.\n- a\nI'll start now.";
        assert_eq!(
            lines(text),
            [
                "Next steps",
                "1. Add a test",
                "2. Update the docs",
                "I'll start now."
            ]
        );
        assert!(lines("It works.").is_empty());
    }

    #[test]
    fn a_to_do_list_has_the_state_of_each_entry() {
        let arguments = r#"{"todos": [{"content": "Fix", "status": "completed"}, {"content": "Test", "status": "in_progress"}, {"step": "Tell", "status": "pending"}]}"#;
        assert_eq!(
            tasks(arguments).as_deref(),
            Some(
                ["[x] Fix", "[>] Test", "[ ] Tell"]
                    .map(str::to_owned)
                    .as_slice()
            )
        );
        assert_eq!(tasks(r#"{"status": "open"}"#), None);
    }

    #[test]
    fn only_finished_entries_are_marked_as_done() {
        for (status, expected) in [
            ("completed", "[x]"),
            ("DONE", "[x]"),
            ("in-progress", "[>]"),
            ("inProgress", "[>]"),
            ("partially_completed", "[>]"),
            ("cancelled", "[-]"),
            ("incomplete", "[ ]"),
            ("undone", "[ ]"),
            ("not_done", "[ ]"),
            ("inactive", "[ ]"),
            ("open", "[ ]"),
        ] {
            assert_eq!(state(status), expected, "{status}");
        }
    }
}
