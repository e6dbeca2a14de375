//! gemini-cli: a recording as one object, or as lines that change it.

mod records;
mod turns;
mod calls;
mod step;
mod parts;

use super::Log;
use super::body::Body;
use super::line_members::LineMembers;
use crate::deadline::Deadline;
use crate::formats::gemini::write as gemini;
use crate::model::format::Format;
use crate::model::log::{LogError, LogKind};

/// Whether a line, or a recording that is one object, is one of gemini-cli.
pub(super) fn is_line(line: &LineMembers<'_>) -> bool {
    let has = |key| line.has(key);
    match line.tag.as_deref() {
        Some("user" | "gemini" | "info" | "warning" | "error") => {
            has("id") && has("timestamp") && has("content")
        }
        Some(_) => false,
        None => {
            has("$set")
                || has("$rewindTo")
                || has("projectHash")
                || (has("sessionId") && (has("startTime") || has("lastUpdated")))
        }
    }
}

/// Reads the messages as they stand after all changes, each as the turns it stands for (LGE-1).
///
/// Nothing in such a log tells a summary from other messages. The system text and the tools are
/// not recorded either (LGE-6).
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    let recording = records::read(text, deadline)?;
    let mut facts = recording.facts;
    let (mut contents, model) = turns::contents(recording.records, &mut facts);
    let model = model.or(recording.earlier_model);
    gemini::sign_current_turn(&mut contents, model.as_deref());
    let mut body = Body::new(LogKind::GeminiCli, Format::Gemini);
    body.model = model;
    body.push_contents(contents);
    body.finish(facts)
}
