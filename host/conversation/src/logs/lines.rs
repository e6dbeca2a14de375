//! The lines of a log, one JSON object each; or several, where the break between two lines was lost.

use super::records::not_understood;
use super::torn::{objects_behind_tear, value_behind};
use crate::deadline::Deadline;
use crate::json::Members;
use crate::model::log::{LogError, LogFacts, LogKind};

/// The number of lines between two checks of the deadline. Few, because a line that ends a compaction may cost a
/// step for each line before it.
const LINES: usize = 8;

/// Goes through the objects of a log, and counts what is none. Each object and each piece that is none counts as a
/// line.
pub(super) struct Lines<'a> {
    rest: &'a str,
    /// What is left of the line: several objects may stand in it, if the break between two lines was lost.
    line: &'a str,
    /// Whether a break ends that line.
    is_ended: bool,
    number: usize,
    first_broken: usize,
    deadline: Option<&'a Deadline>,
    /// The deadline passed before the last line.
    is_late: bool,
    /// What was found so far; the reader adds its own counts.
    pub(super) facts: LogFacts,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str, deadline: Option<&'a Deadline>) -> Self {
        Self {
            rest: text.trim_start_matches('\u{feff}'),
            line: "",
            is_ended: true,
            number: 0,
            first_broken: 0,
            deadline,
            is_late: false,
            facts: LogFacts::default(),
        }
    }

    fn next_line(&mut self) {
        let (line, rest, is_ended) = match self.rest.split_once('\n') {
            Some((line, rest)) => (line, rest, true),
            None => (self.rest, "", false),
        };
        (self.line, self.rest, self.is_ended) = (line.trim(), rest, is_ended);
        self.number += 1;
    }

    /// A piece of a line cannot be read, or what it holds cannot (LPI-8).
    pub(super) fn count_broken(&mut self) {
        self.facts.broken_lines += 1;
        if self.first_broken == 0 {
            self.first_broken = self.number;
        }
    }

    /// The counts, once all lines were read.
    ///
    /// # Errors
    /// Most lines are broken, or the deadline passed.
    pub(super) fn finish(self, kind: LogKind) -> Result<LogFacts, LogError> {
        if self.is_late {
            return Err(LogError::OutOfTime);
        }
        checked(self.facts, kind, self.first_broken)
    }
}

/// The counts of a log, of which `line` is the first that is broken.
///
/// # Errors
/// Most lines are broken.
pub(super) fn checked(facts: LogFacts, kind: LogKind, line: usize) -> Result<LogFacts, LogError> {
    if facts.broken_lines > facts.lines / 2 {
        return Err(LogError::Broken {
            kind,
            broken: facts.broken_lines,
            lines: facts.lines,
            line,
        });
    }
    Ok(facts)
}

impl<'a> Iterator for Lines<'a> {
    type Item = Members<'a>;

    fn next(&mut self) -> Option<Members<'a>> {
        while !self.rest.is_empty() || !self.line.is_empty() {
            if self.facts.lines.is_multiple_of(LINES)
                && self.deadline.is_some_and(Deadline::is_over)
            {
                self.is_late = true;
                return None;
            }
            if self.line.is_empty() {
                self.next_line();
                continue;
            }
            self.facts.lines += 1;
            let piece = self.line;
            let mut values = serde_json::Deserializer::from_str(piece).into_iter::<Members<'a>>();
            let error = match values.next() {
                Some(Ok(members)) => {
                    self.line = piece[values.byte_offset()..].trim();
                    return Some(members);
                }
                Some(Err(error)) => error,
                // Only a piece of white space has no value, and pieces are trimmed.
                None => return None,
            };
            self.line = match value_behind(piece) {
                Some(rest) if piece.starts_with('{') => {
                    self.count_broken();
                    rest
                }
                Some(rest) => {
                    not_understood(&mut self.facts);
                    rest
                }
                None if error.is_eof() && !self.is_ended => {
                    self.facts.unfinished_last_line = true;
                    ""
                }
                None => {
                    self.count_broken();
                    objects_behind_tear(piece, &error)
                }
            };
        }
        None
    }
}
