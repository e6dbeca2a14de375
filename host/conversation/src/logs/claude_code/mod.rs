//! Claude Code: one line for each block of a response, user text and tool result.

mod attachments;
mod boundaries;
mod branches;
mod content;
mod copies;
mod flow;
mod kept;
mod queue;
mod records;
mod segment;
mod turns;

use std::collections::HashSet;

use super::Log;
use super::line_members::LineMembers;
use crate::deadline::Deadline;
use crate::model::log::LogError;
use flow::read_lines;

/// Whether a line is one of Claude Code.
pub(super) fn is_line(line: &LineMembers<'_>) -> bool {
    let has = |key| line.has(key);
    match line.tag.as_deref() {
        Some("user" | "assistant" | "system" | "attachment" | "progress") => {
            has("sessionId") && (has("parentUuid") || has("uuid"))
        }
        Some("summary") => has("leafUuid"),
        Some("file-history-snapshot") => has("messageId"),
        // A resumed session may begin with many of these.
        Some("custom-title" | "ai-title" | "agent-name" | "last-prompt" | "permission-mode") => {
            has("sessionId")
        }
        Some("queue-operation") => has("operation"),
        _ => false,
    }
}

/// Reads what the model sees: all since the last compaction and what it kept (LCC-8), in file order
/// (LCC-6).
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    match read_flow(text, deadline, false) {
        // The transcript of a sub-agent: all of its messages are of a side chain.
        Err(LogError::NoMessages { .. }) => read_flow(text, deadline, true),
        main => main,
    }
}

/// Reads the main flow, or that of the side chains too.
fn read_flow(
    text: &str,
    deadline: Option<&Deadline>,
    with_sidechains: bool,
) -> Result<Log, LogError> {
    let mut found = read_lines(text, deadline, with_sidechains, &HashSet::new())?;
    if !found.void.is_empty() {
        let void = std::mem::take(&mut found.void);
        // It holds about as much as the text.
        drop(found);
        found = read_lines(text, deadline, with_sidechains, &void)?;
    }
    turns::body(found.segment, found.facts)
}
