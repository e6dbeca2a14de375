//! The stream of `claude -p --output-format stream-json` and of the Agent SDK: Claude Code's messages, one a line,
//! or all of them in one list. It has no links between messages, and no branches.

mod messages;

use super::Log;
use super::body::Body;
use super::line_members::LineMembers;
use super::records;
use crate::deadline::Deadline;
use crate::model::format::Format;
use crate::model::log::{LogError, LogKind};
use messages::Messages;

/// Whether a line is one of the stream. Other programs write streams of the same types, whose calls stand in lines
/// of their own; none of them numbers its lines so.
pub(super) fn is_line(line: &LineMembers<'_>) -> bool {
    let has = |key| line.has(key);
    let is_known = match line.tag.as_deref() {
        Some("assistant" | "user") => has("message"),
        Some("system" | "result") => has("subtype"),
        Some("stream_event") => has("event"),
        _ => false,
    };
    is_known && has("session_id") && (has("uuid") || has("parent_tool_use_id"))
}

/// Reads what the model sees: all since the last compaction, and what it kept.
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    let kind = LogKind::ClaudeStreamJson;
    let mut messages = Messages::default();
    let mut facts = records::each(text, deadline, kind, |line, facts| {
        messages.add(&line, facts);
    })?;
    let mut body = Body::new(kind, Format::Anthropic);
    messages.write(&mut body, &mut facts);
    body.finish(facts)
}
