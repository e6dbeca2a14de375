//! Renders the text: its sections in order, joined by blank lines.

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

/// The content of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextSource<'a> {
    pub context: &'a Context,
    pub tools: &'a [Tool],
    /// the turns that do not stay unchanged, oldest first
    pub turns: &'a [&'a Turn],
    /// whether the last of them is the newest turn of all
    pub is_newest: bool,
    /// what the text replaces in addition to turns
    pub past: &'a Past,
}

/// What the text replaces in addition to turns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// messages of the user
    pub said: Vec<String>,
    /// texts of earlier compactions
    pub summaries: Vec<String>,
    /// the number of messages of neither the user nor the model
    pub others: u64,
    /// whether replies of the model are counted separately from results, which holds if the program provides
    /// no turns
    pub counts_replies: bool,
    /// the references by which the newest replaced units can be retrieved
    pub references: Vec<String>,
}

/// Returns the text, without the task that precedes it, and the figures of what it shows.
pub(crate) fn render(source: &TextSource<'_>, limits: &Limits) -> (String, Stats) {
    let mut stats = Stats::default();
    let succeeded = || source.turns.iter().filter(|turn| !turn.has_failed());
    let calls: Vec<&Call> = succeeded().flat_map(|turn| &turn.calls).collect();
    let prints: Vec<&str> = succeeded()
        .flat_map(|turn| turn.prints.iter().map(String::as_str))
        .collect();
    let failed = source.turns.iter().filter(|turn| turn.has_failed()).count() as u64;
    let newest = source.turns.last().filter(|_| source.is_newest);
    let failure = newest.and_then(|turn| turn.failure.as_ref());
    stats.turns_compressed = source.turns.len() as u64;
    stats.calls = Shown::of(calls.len(), limits.calls);
    stats.prints = Shown::of(prints.len(), limits.prints);
    stats.error_turns_collapsed = failed - u64::from(failure.is_some());
    stats.output_rendered = source.tools.iter().any(|tool| tool.name == PRINTLN);
    let sections = [
        Some(namespaces::section(source, limits, &mut stats)),
        past::section(source.past, limits, &mut stats),
        answer::section(source.context, limits, &mut stats),
        Some(calls::made(&calls, limits, &mut stats)),
        stats
            .output_rendered
            .then(|| calls::printed(&prints, limits)),
        failure.map(|failure| calls::error(failure, limits)),
        past::left_out(source, &calls, limits, &mut stats),
        source.context.turns_left.map(answer::turns_left),
    ];
    let sections: Vec<String> = sections.into_iter().flatten().collect();
    (sections.join("\n\n"), stats)
}
