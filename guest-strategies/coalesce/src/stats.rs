//! Counts what the text shows and omits.

use baler_strategy::{Report, Value};

/// The figures of a rendering. The first ten are those of ptc_runner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    pub turns_compressed: u64,
    pub calls: Shown,
    pub prints: Shown,
    pub error_turns_collapsed: u64,
    /// calls of failed turns, which the counts above leave out
    pub failed_turn_calls: u64,
    /// whether the printed lines have a section
    pub output_rendered: bool,
    /// keys that values have and the text does not show
    pub hidden_keys: u64,
    /// results of calls and turns that the text does not show
    pub results_removed: u64,
    /// tools, data, definitions and messages of the user beyond the limit
    pub entries_removed: u64,
    /// turns that stay unchanged
    pub recent_turns_kept: u64,
    /// how often the limits were halved so that the text fits
    pub shortened: u64,
}

/// How many there are, and how many of them are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub total: u64,
    pub shown: u64,
}

impl Shown {
    pub(crate) fn of(total: usize, limit: usize) -> Self {
        Self {
            total: total as u64,
            shown: total.min(limit) as u64,
        }
    }
}

impl Stats {
    pub(crate) const NAMES: &'static [&'static str] = &[
        "enabled",
        "strategy",
        "turns-compressed",
        "tool-calls-total",
        "tool-calls-shown",
        "tool-calls-removed",
        "printlns-total",
        "printlns-shown",
        "printlns-removed",
        "error-turns-collapsed",
        "failed-turn-calls",
        "output-rendered",
        "hidden-keys",
        "results-removed",
        "entries-removed",
        "recent-turns-kept",
        "shortened",
    ];

    /// Returns the report with these metrics, which are the same fields whether anything was compacted or
    /// not.
    pub(crate) fn report(&self, report: Report) -> Report {
        report
            .with_metric("enabled", Value::Flag(true))
            .with_metric("strategy", Value::Text("single-user-coalesced".to_owned()))
            .with_count("turns-compressed", self.turns_compressed)
            .with_count("tool-calls-total", self.calls.total)
            .with_count("tool-calls-shown", self.calls.shown)
            .with_count("tool-calls-removed", self.calls.total - self.calls.shown)
            .with_count("printlns-total", self.prints.total)
            .with_count("printlns-shown", self.prints.shown)
            .with_count("printlns-removed", self.prints.total - self.prints.shown)
            .with_count("error-turns-collapsed", self.error_turns_collapsed)
            .with_count("failed-turn-calls", self.failed_turn_calls)
            .with_metric("output-rendered", Value::Flag(self.output_rendered))
            .with_count("hidden-keys", self.hidden_keys)
            .with_count("results-removed", self.results_removed)
            .with_count("entries-removed", self.entries_removed)
            .with_count("recent-turns-kept", self.recent_turns_kept)
            .with_count("shortened", self.shortened)
    }
}
