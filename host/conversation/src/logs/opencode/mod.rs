//! OpenCode: the one object that `opencode export` writes, in the program's own words, translated to those of the
//! provider that answered last.

mod parts;
mod session;
mod steps;

use super::Log;
use super::line_members::LineMembers;
use super::turns::{Turns, format_of};
use crate::deadline::Deadline;
use crate::json;
use crate::model::log::{LogError, LogKind};
use session::Session;
use steps::Writer;

/// Whether an object is an export.
pub(super) fn is_line(line: &LineMembers<'_>) -> bool {
    line.has("messages") && is_session(line)
}

/// Whether an object says which session it is of, as an export does before its messages.
pub(super) fn is_session(line: &LineMembers<'_>) -> bool {
    let info = line.info.and_then(json::members);
    info.is_some_and(|info| {
        let has = |key| info.get(key).is_some();
        has("id") && (has("projectID") || has("directory"))
    })
}

/// Reads what the model sees: the newest summary, what its compaction kept, and what follows it.
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    let (session, mut facts) = Session::read(text)?;
    if deadline.is_some_and(Deadline::is_over) {
        return Err(LogError::OutOfTime);
    }
    let seen = session.seen(&mut facts);
    let speaker = session.speaker();
    let format = format_of(
        speaker.provider.as_deref().unwrap_or_default(),
        speaker.model.as_deref().unwrap_or_default(),
    );
    let mut writer = Writer {
        turns: Turns::new(format, speaker.model.clone()),
        speaker,
    };
    for message in seen {
        writer.add(message, &mut facts);
    }
    writer.turns.finish(LogKind::Opencode, facts)
}
