//! The records of a log that is either lines or one list of the same objects, as programs collect a stream.

use serde_json::value::RawValue;

use super::lines::{self, Lines};
use crate::deadline::Deadline;
use crate::json::{self, BEFORE, Members};
use crate::model::log::{LogError, LogFacts, LogKind};

/// The number of elements of a list between two checks of the deadline.
const ELEMENTS: usize = 64;

/// Hands over each record of a log, in order, and returns what was counted.
///
/// # Errors
/// Most lines or elements are not objects, a list is not JSON, or the deadline passed.
pub(super) fn each<'a>(
    text: &'a str,
    deadline: Option<&'a Deadline>,
    kind: LogKind,
    mut take: impl FnMut(Members<'a>, &mut LogFacts),
) -> Result<LogFacts, LogError> {
    let list = text.trim_start_matches(BEFORE);
    if json::is_list(list) {
        return each_of_list(list, deadline, kind, take);
    }
    let mut lines = Lines::new(text, deadline);
    while let Some(line) = lines.next() {
        take(line, &mut lines.facts);
    }
    lines.finish(kind)
}

/// The same for a list, of which each element counts as a line.
fn each_of_list<'a>(
    list: &'a str,
    deadline: Option<&Deadline>,
    kind: LogKind,
    mut take: impl FnMut(Members<'a>, &mut LogFacts),
) -> Result<LogFacts, LogError> {
    let raws: Vec<&'a RawValue> =
        serde_json::from_str(list).map_err(|error| not_json(kind, &error))?;
    let mut facts = LogFacts {
        lines: raws.len(),
        ..LogFacts::default()
    };
    let mut first_broken = 0;
    for (index, raw) in raws.into_iter().enumerate() {
        if index.is_multiple_of(ELEMENTS) && deadline.is_some_and(Deadline::is_over) {
            return Err(LogError::OutOfTime);
        }
        if let Ok(record) = serde_json::from_str(raw.get()) {
            take(record, &mut facts);
            continue;
        }
        if facts.broken_lines == 0 {
            let before = json::place_of(list, raw.get()).start;
            first_broken = 1 + list[..before].matches('\n').count();
        }
        facts.broken_lines += 1;
    }
    lines::checked(facts, kind, first_broken)
}

/// The error of a log that is one JSON value.
pub(super) fn not_json(kind: LogKind, error: &serde_json::Error) -> LogError {
    LogError::NotJson {
        kind,
        line: error.line(),
        column: error.column(),
        what: json::without_position(error),
    }
}

/// Counts a record of a form that its reader does not know. Its content is in no message.
pub(super) const fn not_understood(facts: &mut LogFacts) {
    facts.skipped_lines += 1;
    facts.unknown_lines += 1;
}
