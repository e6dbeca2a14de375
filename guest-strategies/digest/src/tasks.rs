//! To-do lists of the agent.

use serde_json::Value;

use super::text;

/// Most bytes of a line.
const LIMIT: usize = 300;

/// Most entries of a to-do list.
const TASKS: usize = 60;

/// Returns the to-do list in the arguments of a call, with the state of each entry; `None` if there is none.
pub(super) fn of(arguments: &str) -> Option<Vec<String>> {
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
    fn a_to_do_list_has_the_state_of_each_entry() {
        let arguments = r#"{"todos": [{"content": "Fix", "status": "completed"}, {"content": "Test", "status": "in_progress"}, {"step": "Tell", "status": "pending"}]}"#;
        assert_eq!(
            of(arguments).as_deref(),
            Some(
                ["[x] Fix", "[>] Test", "[ ] Tell"]
                    .map(str::to_owned)
                    .as_slice()
            )
        );
        assert_eq!(of(r#"{"status": "open"}"#), None);
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
