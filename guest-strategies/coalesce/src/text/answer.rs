//! Sections about the form of the final answer, and about the turns that are left for it.

use std::fmt::Write;

use crate::context::Context;
use crate::limits::Limits;
use crate::signature::{Colons, Signature};
use crate::stats::Stats;

/// Returns the expected output; `None` without a valid signature.
pub(super) fn section(context: &Context, limits: &Limits, stats: &mut Stats) -> Option<String> {
    let expected = Signature::parse(context.signature.as_deref()?)?.returns;
    let mut text = format!(
        "# Expected Output\n\nYour final answer must match this format: `{}`\n\n",
        expected.text(Colons::With)
    );
    let descriptions: Vec<_> = expected
        .field_names()
        .filter_map(|name| {
            let mut descriptions = context.field_descriptions.iter();
            descriptions.find(|(field, _)| field == name)
        })
        .collect();
    if !descriptions.is_empty() {
        text.push_str("Field descriptions:\n");
        for (name, description) in descriptions.iter().take(limits.entries) {
            let line = limits.line(&format!("  - `{name}`: {description}"));
            let _ = writeln!(text, "{line}");
        }
        if let Some(more @ 1..) = descriptions.len().checked_sub(limits.entries) {
            stats.entries_removed += more as u64;
            let _ = writeln!(text, "  - ... {more} more");
        }
        text.push('\n');
    }
    let _ = write!(
        text,
        "Call `(return {})` when complete.",
        expected.example()
    );
    Some(text)
}

/// Returns the line about the turns that are left. A negative number counts as none.
pub(super) fn turns_left(turns: i128) -> String {
    match turns {
        ..=0 => "FINAL TURN - you must call (return result) or (fail reason) now.".to_owned(),
        turns => format!("Turns left: {turns}"),
    }
}
