//! The sizes before and after a compaction, and what changed besides whole units.

use baler_host::{
    Receipt,
    fault::Quantity,
    receipt::{CacheEffect, Outcome, Tokens},
};

use super::{below_floor, row};
use crate::figures::{self, number};
use crate::output::{CHANGED, FAINT, styled};

/// Adds a line for each size and each further change.
pub(super) fn push(text: &mut String, receipt: &Receipt) {
    let is_compacted = receipt.outcome == Outcome::Compacted;
    push_before_and_after(text, receipt, is_compacted);
    push_units(text, receipt, is_compacted);
    push_budget(text, receipt, is_compacted);
    push_changes(text, receipt, is_compacted);
    row(
        text,
        "counted",
        &format!("{} with {}", receipt.format, receipt.tokenizer),
    );
}

/// Adds tokens, bytes and messages, in columns of equal width.
fn push_before_and_after(text: &mut String, receipt: &Receipt, is_compacted: bool) {
    let Tokens { before, after, .. } = receipt.tokens;
    let changes = [
        ("tokens", before as usize, after as usize),
        ("bytes", receipt.bytes.before, receipt.bytes.after),
        ("messages", receipt.messages.before, receipt.messages.after),
    ];
    let figures =
        changes.map(|(what, before, after)| (what, number(before as u64), number(after as u64)));
    let wide = |column: fn(&(&str, String, String)) -> usize| {
        figures.iter().map(column).max().unwrap_or(0)
    };
    let (before_wide, after_wide) = (wide(|row| row.1.len()), wide(|row| row.2.len()));
    for ((what, before, after), (_, old, new)) in figures.iter().zip(changes) {
        let line = if is_compacted {
            let share = if old == 0 {
                0.0
            } else {
                new as f64 / old as f64 * 100.0
            };
            format!(
                "{before:>before_wide$} → {after:>after_wide$}  {}",
                styled(FAINT, &format!("{share:>3.0}%"))
            )
        } else {
            format!("{before:>before_wide$}")
        };
        row(text, what, &line);
    }
}

fn push_units(text: &mut String, receipt: &Receipt, is_compacted: bool) {
    let units = receipt.units;
    let line = if is_compacted {
        format!(
            "{}: {} kept, {} rewritten, {} removed; {} inserted",
            number(units.before as u64),
            number(units.kept as u64),
            number(units.rewritten as u64),
            number(units.removed as u64),
            figures::count(units.inserted, "text"),
        )
    } else {
        number(units.before as u64)
    };
    row(text, "units", &line);
}

/// Adds the budget, and the limits of bytes and media if they are below the floor.
fn push_budget(text: &mut String, receipt: &Receipt, is_compacted: bool) {
    let Tokens {
        after,
        budget,
        floor,
        overhead,
        ..
    } = receipt.tokens;
    let over = if is_compacted && after > budget {
        styled(CHANGED, "  the result exceeds it")
    } else {
        String::new()
    };
    let floor = format!("  floor {}, overhead {}", number(floor), number(overhead));
    row(
        text,
        "budget",
        &format!("{} tokens{}{over}", number(budget), styled(FAINT, &floor)),
    );
    // The row above says it of tokens.
    let others = receipt.below_floor.iter().copied();
    let others: Vec<Quantity> = others.filter(|of| *of != Quantity::Tokens).collect();
    if let Some(limits) = below_floor(&others) {
        let line =
            format!("{limits} below the size of protected content, so the result exceeds it");
        row(text, "limits", &styled(CHANGED, &line));
    }
}

/// Adds a line with a number of things, unless the number is 0.
fn push_count(
    text: &mut String,
    name: &str,
    number: usize,
    noun: &str,
    line: impl FnOnce(&str) -> String,
) {
    if number > 0 {
        row(text, name, &line(&figures::count(number, noun)));
    }
}

/// Adds the effect on the provider's cache, removed thinking, shortened texts, the user's words, pictures that
/// were left out, and repairs.
fn push_changes(text: &mut String, receipt: &Receipt, is_compacted: bool) {
    if let Some(cache) = receipt.cache.filter(|_| is_compacted) {
        row(text, "cache", &cache_effect(&cache));
    }
    let units = receipt.units;
    push_count(
        text,
        "thinking",
        units.thinking_removed,
        "block",
        |blocks| format!("removed {blocks} from the remaining messages"),
    );
    if units.texts_shortened > 0 {
        let (number, verb) = match units.texts_shortened {
            1 => ("1".to_owned(), "was"),
            more => (figures::number(more as u64), "were"),
        };
        row(
            text,
            "texts",
            &format!("shortened {number} that must stay and {verb} too long"),
        );
    }
    if let Some(words) = receipt
        .user_words
        .filter(|words| words.rewritten + words.removed > 0)
    {
        let all = words.kept + words.rewritten + words.removed;
        let line = format!(
            "in {}: {} kept, {} shortened, {} removed",
            figures::count(all, "unit"),
            number(words.kept as u64),
            number(words.rewritten as u64),
            number(words.removed as u64),
        );
        row(text, "user", &line);
    }
    push_count(
        text,
        "pictures",
        units.pictures_left_out,
        "picture",
        |pictures| format!("left out {pictures} too large for the provider"),
    );
    if !receipt.repairs.is_empty() {
        row(text, "repaired", &repairs(receipt));
    }
}

fn repairs(receipt: &Receipt) -> String {
    let counts = &receipt.repair_counts;
    let rules: Vec<&str> = counts.rules.iter().map(|own| own.rule.id()).collect();
    let listed = match receipt.repairs.len() {
        all if all == counts.total => "them".to_owned(),
        some => format!("the first {}", number(some)),
    };
    format!(
        "{} for {}; the receipt (--receipt, --json) lists {listed}",
        figures::count(counts.total, "change"),
        rules.join(", ")
    )
}

/// Returns what a compaction loses and saves of the provider's cache, in words.
pub(crate) fn cache_effect(cache: &CacheEffect) -> String {
    let thrown_away = format!(
        "{} of {} cached tokens cannot be used again",
        number(cache.tokens_thrown_away),
        number(cache.tokens_cached)
    );
    let saved = format!("each later request saves {}", number(cache.tokens_saved));
    if cache.pays_after_requests == 0 {
        format!("{thrown_away}; {saved}")
    } else {
        format!(
            "{thrown_away}; {saved}, which pays off after {}",
            figures::count(cache.pays_after_requests, "request")
        )
    }
}
