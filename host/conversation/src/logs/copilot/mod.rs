//! Copilot CLI: `events.jsonl` of a session, in the program's own words, translated to those of the model's maker.

mod events;
mod parts;

use super::Log;
use super::line_members::LineMembers;
use super::lines::Lines;
use crate::deadline::Deadline;
use crate::model::log::{LogError, LogKind};
use events::Events;
use parts::Known;

/// Whether a line is an event.
pub(super) fn is_line(line: &LineMembers<'_>) -> bool {
    let is_event = line.tag.as_deref().is_some_and(|tag| {
        ["session.", "user.", "assistant.", "tool.", "system."]
            .iter()
            .any(|kind| tag.starts_with(kind))
    });
    is_event && line.has("data") && line.has("timestamp")
}

/// Reads what the model sees: what the user said, the newest summary, and what follows it.
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    let mut lines = Lines::new(text, deadline);
    let mut all = Vec::new();
    for mut line in lines.by_ref() {
        // All of them are kept, and short ones have more room than members.
        line.0.shrink_to_fit();
        all.push(line);
    }
    let mut facts = lines.finish(LogKind::CopilotCli)?;
    let mut known = Known::default();
    for event in &all {
        known.note(event);
    }
    let mut events = Events::new(&known);
    for event in &all {
        events.add(event, &mut facts);
    }
    events.turns(&mut facts).finish(LogKind::CopilotCli, facts)
}
