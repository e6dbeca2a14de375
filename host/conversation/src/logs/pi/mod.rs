//! pi: a line or a tree of entries, in pi's own words, translated to those of the provider.

mod entries;
mod path;
mod edits;
mod system;
mod turns;
mod blocks;

use super::Log;
use super::body::Body;
use super::line_members::LineMembers;
use crate::deadline::Deadline;
use crate::model::log::{LogError, LogKind};
use edits::Edits;
use system::System;

/// Whether a line is one of pi.
pub(super) fn is_line(line: &LineMembers<'_>) -> bool {
    let has = |key| line.has(key);
    match line.tag.as_deref() {
        Some("session") => has("id") || has("version"),
        // Lines of other programs hold a message, too. One of pi's says when, or which API it is of.
        Some("message") => ["timestamp", "api", "toolCallId"]
            .iter()
            .any(|key| line.has_in_message(key)),
        Some("model_change") => has("provider") && has("modelId"),
        Some("thinking_level_change") => has("thinkingLevel"),
        _ => false,
    }
}

/// Reads the way to the newest entry (LPI-1), as the provider of its last response is sent it.
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    let (session, mut facts) = entries::read(text, deadline)?;
    let path = path::path(&session, &mut facts);
    let chosen = path::chosen(&path, &mut facts);
    let turns = turns::turns(&chosen, &Edits::of(&path), &session.provider, &mut facts);
    let mut body = Body::new(LogKind::Pi, turns.format);
    System::of(&path).write(&mut body);
    turns.finish_in(body, facts)
}
