//! Which lines are understood. One that is not may hold something for the model, and is counted.

use crate::json::{self, Members};

/// Types of lines that hold nothing for the model: titles, snapshots, settings, what the program does.
const BOOKKEEPING: [&str; 20] = [
    "system",
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "progress",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "last-prompt",
    "task-summary",
    "permission-mode",
    "mode",
    "tag",
    "pr-link",
    "worktree-state",
    "attribution-snapshot",
    "speculation-accept",
    "bridge-session",
];

/// Whether it is known why a line holds nothing for the model.
pub(super) fn is_understood(line: &Members<'_>) -> bool {
    match line.text("type").as_deref() {
        // What an attachment does not tell is counted there.
        Some("attachment") => true,
        Some("assistant") if line.is_true("isApiErrorMessage") => true,
        Some("user" | "assistant") => has_content(line),
        Some(kind) => BOOKKEEPING.contains(&kind),
        None => false,
    }
}

/// Whether a message has a content of this API, however little it says.
fn has_content(line: &Members<'_>) -> bool {
    let content = line.inside("message", "content");
    content.is_some_and(|content| json::is_text(content.get()) || json::is_list(content.get()))
}
