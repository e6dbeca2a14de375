//! The text: its sections in order, joined by blank lines.

mod namespaces;

mod answer;

mod calls;

mod lines;

mod past;

#[cfg(test)]
mod tests;

use crate::context::Context;
use crate::limits::Limits;
use crate::stats::{Shown, Stats};
use crate::turn::{Call, PRINTLN, Turn};

pub(crate) use namespaces::Tool;
pub(crate) use past::SUMMARY;

/// What a text tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'a> {
    pub context: &'a Context,
    pub tools: &'a [Tool],
    /// the turns that do not stay unchanged, oldest first
    pub turns: &'a [&'a Turn],
    /// whether the last of them is the newest turn of all
    pub is_newest: bool,
    /// what beside turns does not stay as it is
    pub past: &'a Past,
}

/// What goes beside the turns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// messages of the user's
    pub said: Vec<String>,
    /// texts of earlier compactions
    pub summaries: Vec<String>,
    /// messages of neither the user nor the model
    pub others: u64,
    /// whether texts of the model count as results: where no program tells of them
    pub counts_replies: bool,
    /// by what the newest of all this can be had back
    pub references: Vec<String>,
}

/// The text without the task, which stands in front of it, and what it shows.
pub(crate) fn render(told: &Told<'_>, limits: &Limits) -> (String, Stats) {
    let mut stats = Stats::default();
    let succeeded = || told.turns.iter().filter(|turn| !turn.has_failed());
    let calls: Vec<&Call> = succeeded().flat_map(|turn| &turn.calls).collect();
    let prints: Vec<&str> = succeeded()
        .flat_map(|turn| turn.prints.iter().map(String::as_str))
        .collect();
    let failed = told.turns.iter().filter(|turn| turn.has_failed()).count() as u64;
    let newest = told.turns.last().filter(|_| told.is_newest);
    let failure = newest.and_then(|turn| turn.failure.as_ref());
    stats.turns_compressed = told.turns.len() as u64;
    stats.calls = Shown::of(calls.len(), limits.calls);
    stats.prints = Shown::of(prints.len(), limits.prints);
    stats.error_turns_collapsed = failed - u64::from(failure.is_some());
    stats.output_rendered = told.tools.iter().any(|tool| tool.name == PRINTLN);
    let sections = [
        Some(namespaces::section(told, limits, &mut stats)),
        past::section(told.past, limits, &mut stats),
        answer::section(told.context, limits, &mut stats),
        Some(calls::made(&calls, limits, &mut stats)),
        stats
            .output_rendered
            .then(|| calls::printed(&prints, limits)),
        failure.map(|failure| calls::error(failure, limits)),
        past::left_out(told, &calls, limits, &mut stats),
        told.context.turns_left.map(answer::turns_left),
    ];
    let sections: Vec<String> = sections.into_iter().flatten().collect();
    (sections.join("\n\n"), stats)
}
