//! Sections that ptc_runner does not have: earlier messages and summaries, and what the text leaves out.

use std::fmt::Write;

use super::calls::newest;
use super::lines::kept_apart;
use super::{Past, TextSource};
use crate::limits::{Limits, cut};
use crate::stats::Stats;
use crate::turn::Call;

/// The most lines' worth of characters of an earlier summary, which replaces more than a single line does.
pub(crate) const SUMMARY: usize = 4;
/// The most names of tools in the line about failed turns.
const NAMES: usize = 10;
/// The most references.
const REFERENCES: usize = 10;

/// Returns the sections of what the user said and of what earlier compactions wrote.
pub(super) fn section(past: &Past, limits: &Limits, stats: &mut Stats) -> Option<String> {
    let mut sections = Vec::new();
    let summaries = newest(&past.summaries, limits.entries.max(1));
    stats.entries_removed += (past.summaries.len() - summaries.len()) as u64;
    for summary in summaries {
        let summary = cut(summary.trim(), limits.line.saturating_mul(SUMMARY));
        let summary = kept_apart(&summary);
        sections.push(format!(";; Earlier summary:\n{summary}"));
    }
    if !past.said.is_empty() {
        let shown = newest(&past.said, limits.entries);
        let mut text = String::from(";; The user also said:");
        if let Some(more @ 1..) = past.said.len().checked_sub(shown.len()) {
            stats.entries_removed += more as u64;
            let _ = write!(text, "\n;; ... {more} earlier");
        }
        for said in shown {
            let _ = write!(text, "\n;   {}", limits.line(said.trim()));
        }
        sections.push(text);
    }
    (!sections.is_empty()).then(|| sections.join("\n\n"))
}

/// Returns the lines about what the text does not show; `None` if it shows everything.
pub(super) fn left_out(
    source: &TextSource<'_>,
    calls: &[&Call],
    limits: &Limits,
    stats: &mut Stats,
) -> Option<String> {
    let mut lines = Vec::new();
    let failed = source.turns.iter().filter(|turn| turn.has_failed());
    let calls_of_failed = failed.flat_map(|turn| &turn.calls);
    let names: Vec<&str> = calls_of_failed.map(|call| call.name.as_str()).collect();
    stats.failed_turn_calls = names.len() as u64;
    if !names.is_empty() {
        let mut different: Vec<&str> = Vec::new();
        for name in &names {
            if different.len() <= NAMES && !different.contains(name) {
                different.push(name);
            }
        }
        let more = if different.len() > NAMES { ", ..." } else { "" };
        different.truncate(NAMES);
        lines.push(format!(
            ";; Calls in failed turns, which may have had effects: {}: {}{more}",
            names.len(),
            different.join(", ")
        ));
    }
    let (results, replies) = results(source, calls, limits);
    stats.results_removed = results;
    if results > 0 {
        lines.push(format!(";; Results left out: {results}"));
    }
    if replies > 0 {
        lines.push(format!(";; Replies left out: {replies}"));
    }
    if let others @ 1.. = source.past.others {
        lines.push(format!(";; Other messages left out: {others}"));
    }
    if lines.is_empty() {
        return None;
    }
    let references = newest(&source.past.references, REFERENCES.min(limits.line / 20));
    if !references.is_empty() {
        lines.push(format!(
            ";; Have the newest of it back by reference: {}",
            references.join(", ")
        ));
    }
    let lines: Vec<String> = lines.iter().map(|line| limits.line(line)).collect();
    Some(lines.join("\n"))
}

/// Returns the numbers of results (of calls and turns) and of replies of the model that are not shown.
fn results(source: &TextSource<'_>, calls: &[&Call], limits: &Limits) -> (u64, u64) {
    let has_result = |call: &&Call| call.result.is_some();
    let of_calls = source.turns.iter().flat_map(|turn| &turn.calls);
    let of_calls = of_calls.filter(has_result).count();
    let excerpts = newest(calls, limits.calls).iter().copied();
    let excerpts = match limits.excerpt {
        0 => 0,
        _ => excerpts.filter(has_result).count(),
    };
    let of_turns = source.turns.iter().filter(|turn| turn.has_result).count();
    let results = (of_calls - excerpts) as u64;
    match source.past.counts_replies {
        true => (results, of_turns as u64),
        false => (results + of_turns as u64, 0),
    }
}
