//! Codex: items of the Responses API, with or without a wrapper around each.

mod agents;
mod context;
mod history;
mod items;
mod pairs;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;

use super::Log;
use super::body::{Body, Message};
use super::line_members::LineMembers;
use super::lines::Lines;
use crate::deadline::Deadline;
use crate::json::{self, Members};
use crate::model::format::Format;
use crate::model::log::{LogError, LogKind};
use history::History;

/// Whether a line is one of Codex.
pub(super) fn is_line(line: &LineMembers<'_>) -> bool {
    let has = |key| line.has(key);
    match line.tag.as_deref() {
        Some("session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted") => {
            has("payload")
        }
        Some(_) => false,
        None => {
            has("record_type")
                || (has("id") && has("timestamp") && (has("instructions") || has("git")))
        }
    }
}

/// Whether a line is an item of the Responses API without a wrapper, as older versions wrote them. A response
/// of Anthropic's API looks alike, except for `usage`, `stop_reason` and `model`, and so do messages of other
/// programs, which say when.
pub(super) fn is_bare_item(line: &LineMembers<'_>) -> bool {
    let has = |key| line.has(key);
    match line.tag.as_deref() {
        Some("message") => {
            has("role")
                && has("content")
                && !["usage", "stop_reason", "model", "timestamp", "ts"]
                    .iter()
                    .any(|key| line.has(key))
        }
        Some("reasoning") => has("summary"),
        Some("function_call") => has("call_id") && has("arguments"),
        Some("function_call_output") => has("call_id") && has("output"),
        _ => false,
    }
}

/// Reads the items of the newest history (LCX-1, LCX-10), in file order.
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    let mut lines = Lines::new(text, deadline);
    let mut body = Body::new(LogKind::Codex, Format::OpenAiResponses);
    let mut history = History::default();
    // Items stand in wrappers, or they do not.
    let mut is_wrapped = false;
    let mut sessions: HashSet<Cow<'_, str>> = HashSet::new();
    while let Some(line) = lines.next() {
        let Some(payload) = line.get("payload") else {
            // The older form: the first line describes the session, and items are bare (LCX-8).
            let is_item = line.get("type").or(line.get("role")).is_some();
            let is_used = if is_item {
                !is_wrapped && line_of(text, &line).is_some_and(|raw| history.add_bare(raw, &line))
            } else {
                note_instructions(&mut body, &line)
            };
            let is_known = !is_item || !is_wrapped && items::says_nothing(&line);
            lines.facts.skipped_lines += usize::from(!is_used);
            lines.facts.unknown_lines += usize::from(!is_used && !is_known);
            continue;
        };
        let Ok(members) = serde_json::from_str::<Members<'_>>(payload.get()) else {
            lines.count_broken();
            continue;
        };
        is_wrapped = true;
        let kind = line.text("type");
        let is_used = match kind.as_deref() {
            Some("response_item") => history.add(payload.get(), &members),
            Some("inter_agent_communication") => history.add_message_of_agent(&members),
            Some("compacted") => {
                history.compact(&members);
                true
            }
            Some("session_meta") => {
                sessions.extend(members.text("id"));
                note_instructions(&mut body, &members)
            }
            Some("turn_context") => {
                body.model = members.text("model").or(body.model.take());
                members.get("model").is_some()
            }
            Some("event_msg") => match members.text("type").as_deref() {
                Some("token_count") => history.note_count(&members),
                Some("thread_rolled_back") => {
                    history.roll_back(&members, &mut lines.facts);
                    true
                }
                _ => false,
            },
            _ => false,
        };
        let is_known = match kind.as_deref() {
            Some("session_meta" | "turn_context" | "event_msg") => true,
            Some("response_item") => items::says_nothing(&members),
            _ => false,
        };
        lines.facts.skipped_lines += usize::from(!is_used);
        lines.facts.unknown_lines += usize::from(!is_used && !is_known);
    }
    let mut facts = lines.finish(LogKind::Codex)?;
    facts.sessions = sessions.len();
    let (items, reported) = history.finish(&mut facts);
    let pieces = pairs::paired(items, &mut facts);
    for piece in pieces {
        if piece.is_summary {
            body.note_summary(body.len());
        }
        body.push(Message::Whole(piece.raw));
        // Items before it may be gone, and completed outputs have come in.
        if let Some((tokens, end)) = reported
            && piece.index < end
        {
            body.report(tokens);
        }
    }
    body.finish(facts)
}

/// Takes the instructions of the session, once. False where there are none.
fn note_instructions<'a>(body: &mut Body<'a>, members: &Members<'a>) -> bool {
    let instructions = members
        .present("instructions")
        .map(RawValue::get)
        .filter(|raw| json::is_text(raw) && !json::is_blank(raw));
    let earlier = body.instructions.take();
    body.instructions = earlier.or(instructions.map(Cow::Borrowed));
    instructions.is_some()
}

/// The raw JSON of a line that was taken apart.
fn line_of<'a>(text: &'a str, line: &Members<'a>) -> Option<&'a str> {
    let (_, value) = line.0.first()?;
    let at = json::place_of(text, value.get()).start;
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let rest = text.get(at..)?;
    let end = at + rest.find('\n').unwrap_or(rest.len());
    let line = text.get(start..end)?;
    Some(line.trim_matches(['\u{feff}', ' ', '\t', '\r']))
}
