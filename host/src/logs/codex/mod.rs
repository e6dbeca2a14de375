//! Codex: items of the Responses API, with or without a wrapper around each.

mod items;
mod pairs;

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::body::{self, Body, Message};
use super::lines::{self, Lines};
use super::{Log, LogError, LogKind};
use crate::formats::Format;
use crate::formats::json::{self, Members};
use items::{Item, Kind};

/// Reads the items of the newest history (LCX-1, LCX-10), in file order.
pub(super) fn read(text: &str, summary: &dyn Fn(&str) -> String) -> Result<Log, LogError> {
    let mut lines = Lines::new(text);
    let mut body = Body::new(LogKind::Codex, Format::OpenAiResponses);
    let mut history = History::default();
    while let Some(line) = lines.next() {
        let Some(payload) = line.get("payload") else {
            // The older form: the first line describes the session, and items are bare (LCX-8).
            let is_used = if line.get("type").or(line.get("role")).is_none() {
                note_instructions(&mut body, &line)
            } else {
                line_of(text, &line).is_some_and(|raw| history.add(raw, &line))
            };
            lines.facts.skipped_lines += usize::from(!is_used);
            continue;
        };
        let Ok(members) = serde_json::from_str::<Members<'_>>(payload.get()) else {
            lines.count_broken();
            continue;
        };
        let is_used = match line.text("type").as_deref() {
            Some("response_item") => history.add(payload.get(), &members),
            Some("compacted") => {
                lines.facts.earlier_messages += history.items.len();
                let summaries = &mut lines.facts.recorded_summaries;
                history = history.compacted(&members, summary, summaries);
                true
            }
            Some("session_meta") => note_instructions(&mut body, &members),
            Some("turn_context") => {
                body.model = members.text("model").or(body.model.take());
                members.get("model").is_some()
            }
            Some("event_msg") => history.note_event(&members),
            _ => false,
        };
        lines.facts.skipped_lines += usize::from(!is_used);
    }
    let mut facts = lines.finish(LogKind::Codex)?;
    let History {
        items, reported, ..
    } = history;
    let pieces = pairs::paired(items, &mut facts);
    for piece in pieces {
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

#[derive(Default)]
struct History<'a> {
    items: Vec<Item<'a>>,
    counts: Counts,
    /// Tokens, and the number of items that they cover.
    reported: Option<(u64, usize)>,
}

/// Where the provider's counts belong. Versions up to 0.40 at least write the items of a response
/// after its count [measured: the growth of the context from count to count follows the outputs
/// between them]; later ones before it. Which it is shows at the first count of a file.
#[derive(Default)]
struct Counts {
    come_first: Option<bool>,
    /// Whether any part of a response was there.
    saw_reply: bool,
    /// Where the newest response ends.
    end_of_reply: usize,
    /// A count whose response comes next.
    waiting: Option<u64>,
}

impl<'a> History<'a> {
    /// Adds an item; false where it is none for the model.
    fn add(&mut self, raw: &'a str, members: &Members<'a>) -> bool {
        let Some(item) = Item::new(raw, members) else {
            return false;
        };
        let is_reply = matches!(item.kind, Kind::Call { .. } | Kind::Reasoning | Kind::Reply);
        self.items.push(item);
        if is_reply {
            self.counts.saw_reply = true;
            self.counts.end_of_reply = self.items.len();
            if let Some(tokens) = self.counts.waiting {
                self.reported = Some((tokens, self.items.len()));
            }
        } else {
            self.counts.waiting = None;
        }
        true
    }

    /// What a compaction left: its history if it has one, else its summary (LCX-10).
    fn compacted(
        self,
        members: &Members<'a>,
        summary: &dyn Fn(&str) -> String,
        summaries: &mut usize,
    ) -> Self {
        let mut history = Self::default();
        let recorded = members
            .text("message")
            .filter(|text| !text.trim().is_empty());
        let replacement = lines::list(members, "replacement_history");
        for raw in replacement.iter().flatten() {
            let Ok(item) = serde_json::from_str::<Members<'_>>(raw.get()) else {
                continue;
            };
            // The history may hold the summary that the log records beside it.
            match &recorded {
                Some(text) if items::user_text(&item).as_ref() == Some(text) => {
                    history.items.push(Item::text(&summary(text)));
                    *summaries += 1;
                }
                _ => {
                    history.add(raw.get(), &item);
                }
            }
        }
        if let (None, Some(text)) = (replacement, recorded) {
            history.items.push(Item::text(&summary(&text)));
            *summaries += 1;
        }
        // A count from before says nothing about what is there now.
        history.counts = Counts {
            end_of_reply: 0,
            waiting: None,
            ..self.counts
        };
        history
    }

    /// Notes the size of the context (LCX-7). False where the event tells none.
    fn note_event(&mut self, event: &Members<'a>) -> bool {
        let usage = (event.text("type").as_deref() == Some("token_count"))
            .then(|| lines::object(event, "info"))
            .flatten()
            .and_then(|info| lines::object(&info, "last_token_usage"));
        let Some(usage) = usage else {
            return false;
        };
        let tokens = match lines::sum(&usage, &["total_tokens"]) {
            0 => lines::sum(&usage, &["input_tokens", "output_tokens"]),
            total => total,
        };
        let counts = &mut self.counts;
        if *counts.come_first.get_or_insert(!counts.saw_reply) {
            counts.waiting = Some(tokens);
        } else if counts.end_of_reply > 0 {
            // Outputs may stand before it, but were not sent yet.
            self.reported = Some((tokens, counts.end_of_reply));
        }
        true
    }
}

/// Takes the instructions of the session, once. False where there are none.
fn note_instructions<'a>(body: &mut Body<'a>, members: &Members<'a>) -> bool {
    let instructions = members
        .present("instructions")
        .map(RawValue::get)
        .filter(|raw| json::is_text(raw) && !body::is_blank(raw));
    body.instructions = body.instructions.or(instructions);
    instructions.is_some()
}

/// The raw JSON of a line that was taken apart.
fn line_of<'a>(text: &'a str, line: &Members<'a>) -> Option<&'a str> {
    let (_, value) = line.0.first()?;
    let at = json::place_of(text, value.get()).start;
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let end = text
        .get(at..)?
        .find('\n')
        .map_or(text.len(), |end| at + end);
    Some(
        text.get(start..end)?
            .trim_matches(['\u{feff}', ' ', '\t', '\r']),
    )
}

impl<'a> Item<'a> {
    /// A message of the user that is exactly this text.
    fn text(text: &str) -> Self {
        let text = json::encode(text);
        Self {
            raw: Cow::Owned(format!(r#"{{"role":"user","content":{text}}}"#)),
            kind: Kind::Input,
        }
    }
}
