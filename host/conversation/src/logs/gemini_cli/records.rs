//! The messages of a recording, after all changes that its lines tell of.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::deadline::Deadline;
use crate::json::Members;
use crate::logs::lines::Lines;
use crate::logs::records::{not_json, not_understood};
use crate::model::log::{LogError, LogFacts, LogKind};

/// What a recording holds.
pub(super) struct Recording<'a> {
    /// The messages in order, each taken apart.
    pub(super) records: Vec<Members<'a>>,
    /// The model that answered last among messages that others were set in the place of: those which the
    /// program writes there name none.
    pub(super) earlier_model: Option<Cow<'a, str>>,
    pub(super) facts: LogFacts,
}

/// Reads a recording, as lines or as one object.
pub(super) fn read<'a>(
    text: &'a str,
    deadline: Option<&'a Deadline>,
) -> Result<Recording<'a>, LogError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut ends = text.split('\n').skip_while(|line| line.trim().is_empty());
    // An object that is spread over lines, or lines that are objects?
    let is_lines = ends
        .next()
        .is_some_and(|first| serde_json::from_str::<&RawValue>(first).is_ok())
        || ends.any(|line| line.starts_with('{'));
    if !is_lines {
        return whole(text);
    }
    let mut lines = Lines::new(text, deadline);
    let mut records = Records::default();
    let mut earlier_model = None;
    while let Some(line) = lines.next() {
        if let Some(id) = line.text("$rewindTo") {
            lines.facts.other_branches += records.rewind(&id);
        } else if line.get("id").or(line.get("type")).is_some() {
            records.put(line);
        } else {
            // The first line may carry messages too, as the older form did.
            let is_known = is_about_session(&line);
            let change = line.object("$set").unwrap_or(line);
            match change.list("messages") {
                Some(raws) => {
                    earlier_model = records.model().or(earlier_model);
                    records = Records::default();
                    let broken = records.fill(raws);
                    lines.facts.broken_lines += broken;
                    lines.facts.lines += broken;
                }
                None if is_known => lines.facts.skipped_lines += 1,
                None => not_understood(&mut lines.facts),
            }
        }
    }
    Ok(Recording {
        records: records.list,
        earlier_model,
        facts: lines.finish(LogKind::GeminiCli)?,
    })
}

/// Whether a line without messages tells of the session, as the first line and changes of it do.
fn is_about_session(line: &Members<'_>) -> bool {
    ["$set", "sessionId", "projectHash", "startTime"]
        .iter()
        .any(|key| line.get(key).is_some())
}

/// A recording that is one object.
fn whole(text: &str) -> Result<Recording<'_>, LogError> {
    let object: Members<'_> =
        serde_json::from_str(text).map_err(|error| not_json(LogKind::GeminiCli, &error))?;
    let raws = object.list("messages").unwrap_or_default();
    let mut records = Records::default();
    let mut facts = LogFacts {
        lines: raws.len(),
        ..LogFacts::default()
    };
    facts.broken_lines = records.fill(raws);
    Ok(Recording {
        records: records.list,
        earlier_model: None,
        facts,
    })
}

#[derive(Default)]
struct Records<'a> {
    list: Vec<Members<'a>>,
    places: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Records<'a> {
    /// Adds a message, or replaces the one with its id, which is of the same type where the program wrote
    /// it anew (LGE-7).
    fn put(&mut self, mut message: Members<'a>) {
        // All of them are kept, and short ones have more room than members.
        message.0.shrink_to_fit();
        let Some(id) = message.text("id").filter(|id| !id.is_empty()) else {
            self.list.push(message);
            return;
        };
        let earlier = self.places.get(&id).and_then(|at| self.list.get_mut(*at));
        match earlier.filter(|earlier| earlier.text("type") == message.text("type")) {
            Some(earlier) => *earlier = message,
            None => {
                self.places.insert(id, self.list.len());
                self.list.push(message);
            }
        }
    }

    /// Adds messages, and says how many of them are broken.
    fn fill(&mut self, raws: Vec<&'a RawValue>) -> usize {
        let mut broken = 0;
        for raw in raws {
            match serde_json::from_str(raw.get()) {
                Ok(message) => self.put(message),
                Err(_) => broken += 1,
            }
        }
        broken
    }

    /// The model that answered last.
    fn model(&self) -> Option<Cow<'a, str>> {
        let answers = self.list.iter().rev();
        answers
            .filter(|message| message.text("type").as_deref() == Some("gemini"))
            .find_map(|message| message.text("model"))
    }

    /// Removes a message and all after it; all, where it is not there. Tells how many.
    fn rewind(&mut self, id: &str) -> usize {
        let at = self.places.get(id).copied().unwrap_or(0);
        let removed = self.list.split_off(at);
        for message in &removed {
            if let Some(id) = message.text("id") {
                self.places.remove(&id);
            }
        }
        removed.len()
    }
}
