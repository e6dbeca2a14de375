//! Sections about calls, printed lines and the last error.

use std::fmt::Write;

use baler_digest::indented;

use super::lines::kept_apart;
use crate::limits::{Limits, cut};
use crate::print::Printer;
use crate::stats::Stats;
use crate::turn::{Call, Failed};

/// The most items, and the most characters, of the arguments of a call.
const ITEMS: usize = 3;
const CHARACTERS: usize = 60;

/// Returns the section of the newest calls, oldest first.
pub(super) fn made(calls: &[&Call], limits: &Limits, stats: &mut Stats) -> String {
    if calls.is_empty() {
        return ";; No tool calls made".to_owned();
    }
    let mut text = String::from(";; Tool calls made:");
    for call in newest(calls, limits.calls) {
        let mut printer = Printer::new(ITEMS, CHARACTERS);
        let line = format!(";   {}({})", call.name, printer.print(&call.arguments));
        stats.hidden_keys += printer.hidden;
        let _ = write!(text, "\n{}", limits.line(&line));
        if let (Some(result), 1..) = (&call.result, limits.excerpt) {
            let excerpt = cut(result.trim(), limits.excerpt);
            let _ = write!(text, "\n;     => {}", limits.line(&excerpt));
        }
    }
    text
}

/// Returns the section of the newest printed lines. A line is unchanged up to the maximum length, unless it
/// could be mistaken for a line of this text.
pub(super) fn printed(prints: &[&str], limits: &Limits) -> String {
    let mut text = String::from(";; Output:");
    for line in newest(prints, limits.prints) {
        let _ = write!(text, "\n{}", kept_apart(&cut(line, limits.line)));
    }
    text
}

/// Returns the section of the last failed attempt.
pub(super) fn error(failed: &Failed, limits: &Limits) -> String {
    let program = failed.program.as_deref().unwrap_or("(unknown program)");
    let program = cut(program, limits.line);
    let fence = fence(&program);
    format!(
        "---\nYour previous attempt:\n{fence}clojure\n{program}\n{fence}\n\nError: {}\n---",
        indented(&cut(&failed.message, limits.line))
    )
}

/// Returns a code fence that is longer than any in the program.
fn fence(program: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for character in program.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat((longest + 1).max(3))
}

/// Returns the last `limit` elements.
pub(super) fn newest<T>(all: &[T], limit: usize) -> &[T] {
    &all[all.len().saturating_sub(limit)..]
}
