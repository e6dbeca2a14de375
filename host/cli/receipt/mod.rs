//! The summary of a receipt for people.

mod attempt;
mod sizes;

use std::fmt::Write as _;

use baler_host::{Receipt, Strategy, fault::Quantity, receipt::Outcome};

use crate::figures::{self, cleaned};
use crate::output::{BOLD, CHANGED, GOOD, styled};

pub(crate) use attempt::{metric, permissions, remedy, short_digest};
pub(crate) use sizes::cache_effect;

/// What the summary needs besides the receipt.
#[derive(Debug)]
pub(crate) struct Circumstances<'a> {
    /// The strategies of the run, with their limits.
    pub(crate) chain: &'a [Strategy],
    /// Where removed content is archived; `None` without an archive.
    pub(crate) archive: Option<&'a str>,
    pub(crate) is_dry_run: bool,
}

/// Returns the summary of a receipt for people: the result, its sizes, each attempt, and the archive.
pub(crate) fn text(receipt: &Receipt, circumstances: &Circumstances<'_>) -> String {
    let mut text = headline(receipt, circumstances);
    text.push('\n');
    sizes::push(&mut text, receipt);
    for attempt in &receipt.attempts {
        attempt::push(&mut text, attempt, circumstances.chain);
    }
    if receipt.outcome == Outcome::Compacted || !receipt.originals.is_empty() {
        push_archive(&mut text, receipt, circumstances);
    }
    text
}

fn headline(receipt: &Receipt, circumstances: &Circumstances<'_>) -> String {
    match receipt.outcome {
        Outcome::Compacted => {
            let strategy = cleaned(receipt.strategy.as_deref().unwrap_or_default());
            let verb = if circumstances.is_dry_run {
                "would be compacted"
            } else {
                "compacted"
            };
            if receipt.fell_back {
                let why = below_floor(&receipt.below_floor)
                    .map_or("a fallback".to_owned(), |limits| {
                        format!("{limits} below the floor, so only protected content is kept")
                    });
                format!("{} by {strategy}: {why}", styled(CHANGED.bold(), verb))
            } else {
                format!("{} by {strategy}", styled(GOOD.bold(), verb))
            }
        }
        Outcome::Repaired(why) => {
            let verb = if circumstances.is_dry_run {
                "would be repaired"
            } else {
                "repaired"
            };
            let verb = styled(GOOD.bold(), verb);
            format!("{verb}, not compacted: {}", why.words())
        }
        Outcome::Unchanged(why) => format!("{}: {}", styled(BOLD, "unchanged"), why.words()),
        _ => styled(BOLD, "done"),
    }
}

/// Returns the limits that cannot be reached, with their verb; `None` if all can be reached.
fn below_floor(limits: &[Quantity]) -> Option<String> {
    let names: Vec<&str> = limits
        .iter()
        .map(|limit| match limit {
            Quantity::Bytes => "the limit of bytes",
            Quantity::Media => "the limit of media",
            _ => "the budget",
        })
        .collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    (!names.is_empty()).then(|| format!("{} {verb}", names.join(" and ")))
}

fn push_archive(text: &mut String, receipt: &Receipt, circumstances: &Circumstances<'_>) {
    let line = match circumstances.archive {
        Some(place) => {
            let is_compacted = receipt.outcome == Outcome::Compacted;
            let units = receipt
                .archive
                .as_ref()
                .map(Vec::len)
                .filter(|_| is_compacted);
            let units = units.map(|units| figures::count(units, "removed or rewritten unit"));
            let originals = Some(receipt.original_count).filter(|originals| *originals > 0);
            let originals = originals.map(|originals| {
                let messages = figures::count(originals, "message");
                format!("{messages} as they were before the repair")
            });
            let what: Vec<String> = units.into_iter().chain(originals).collect();
            let verb = match circumstances.is_dry_run {
                true => "would archive",
                false => "archived",
            };
            format!("{verb} {} in `{}`", what.join(" and "), cleaned(place))
        }
        _ if circumstances.is_dry_run => {
            "what is removed would be lost: there is no archive".to_owned()
        }
        _ => "the removed content is lost: there is no archive".to_owned(),
    };
    let _ = writeln!(text, "\n{line}");
}

/// Adds a line with a name and a value.
fn row(text: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {name:<8}  {value}");
}
