//! Figures as Markdown and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json as value};

use crate::baselines::Baseline;
use crate::run::{Evaluation, Of, Row};
use crate::statistics::{Interval, Summary};

/// A figure: its name in tables and JSON, and how it is taken from a row.
type Figure = (&'static str, fn(&Row) -> Option<f64>);

const FIGURES: [Figure; 7] = [
    ("recall", |row| row.measured.recall),
    ("far", |row| row.measured.far),
    ("arguments", |row| row.measured.arguments),
    ("instructions", |row| row.measured.instructions),
    ("last-error", |row| row.measured.last_error),
    ("wanted", |row| row.measured.wanted),
    ("size", |row| Some(row.measured.size)),
];

const KINDS: [Figure; 4] = [
    ("path", |row| row.measured.by_kind[0]),
    ("hex", |row| row.measured.by_kind[1]),
    ("identifier", |row| row.measured.by_kind[2]),
    ("number", |row| row.measured.by_kind[3]),
];

/// Tables for people: one for each budget over all sets, and one with each set.
#[must_use]
pub fn markdown(evaluation: &Evaluation) -> String {
    let summary = Summary::of(evaluation);
    let sets = summary.sets();
    let mut text = String::new();
    let skipped = |why| {
        let of = evaluation.results.iter();
        of.filter(|result| result.skipped == Some(why)).count()
    };
    for set in &sets {
        let (conversations, cuts) = summary.rests_on(set);
        let _ = writeln!(text, "- {set}: {conversations} conversations, {cuts} cuts");
    }
    let _ = writeln!(
        text,
        "- left out: {} that break a rule of their format, {} in which too little was needed later, {} that cannot be read\n",
        skipped(Of::Invalid),
        skipped(Of::Empty),
        skipped(Of::Unread),
    );
    for budget in summary.budgets() {
        let _ = writeln!(text, "### {}\n", name_of(budget));
        let _ = writeln!(
            text,
            "| all sets, equal weight | recall | far | arguments | instructions | last error | wanted | size | invalid | over | fell back | ms median, 95 % |"
        );
        let _ = writeln!(text, "|---|---|---|---|---|---|---|---|---|---|---|---|");
        for strategy in summary.strategies() {
            let _ = write!(text, "| {strategy} |");
            for (_, figure) in FIGURES {
                let _ = write!(
                    text,
                    " {} |",
                    with_interval(summary.mean(&sets, strategy, budget, &figure))
                );
            }
            let rows: Vec<&Row> = summary
                .rows()
                .filter(|row| row.strategy == strategy && row.budget == budget)
                .collect();
            let count = |is: fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
            let _ = writeln!(
                text,
                " {} | {} | {} | {} |",
                count(|row| row.measured.is_invalid),
                count(|row| row.measured.is_over),
                fell_back(&rows),
                times(&rows),
            );
        }
        let _ = writeln!(text, "\nRecall / far, by set:\n");
        let _ = writeln!(text, "| | {} |", sets.join(" | "));
        let _ = writeln!(text, "|---|{}", "---|".repeat(sets.len()));
        for strategy in summary.strategies() {
            let _ = write!(text, "| {strategy} |");
            for set in &sets {
                let of = |figure: fn(&Row) -> Option<f64>| {
                    plain(summary.mean(&[set], strategy, budget, &figure))
                };
                let _ = write!(text, " {} / {} |", of(FIGURES[0].1), of(FIGURES[1].1));
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

/// Everything as JSON: figures by budget, strategy and set, with intervals.
#[must_use]
pub fn json(evaluation: &Evaluation) -> Value {
    let summary = Summary::of(evaluation);
    let sets = summary.sets();
    let mut rows = Vec::new();
    for budget in summary.budgets() {
        for strategy in summary.strategies() {
            let groups = std::iter::once(("all", sets.clone()))
                .chain(sets.iter().map(|set| (*set, vec![*set])));
            for (name, sets) in groups {
                let figures: serde_json::Map<String, Value> = FIGURES
                    .iter()
                    .chain(&KINDS)
                    .filter_map(|(name, figure)| {
                        let mean = summary.mean(&sets, strategy, budget, figure)?;
                        Some(((*name).to_owned(), serde_json::to_value(mean).ok()?))
                    })
                    .collect();
                rows.push(value!({
                    "budget": f64::from(budget) / 1_000.0,
                    "strategy": strategy,
                    "set": name,
                    "figures": figures,
                }));
            }
        }
    }
    // What a program wrote itself stands for comparison, too.
    let baselines = Baseline::ALL.iter().map(|baseline| baseline.name());
    let baselines: Vec<&str> = baselines.chain(["recorded"]).collect();
    value!({
        "summary": rows,
        "baselines": baselines,
        "conversations": evaluation.results,
    })
}

fn name_of(budget: u32) -> String {
    match budget {
        0 => "At recorded compactions, at the size of the recorded summary".to_owned(),
        _ => format!("{} % of the history", f64::from(budget) / 10.0),
    }
}

fn with_interval(figure: Option<Interval>) -> String {
    figure.map_or_else(
        || "–".to_owned(),
        |of| format!("{:.2} ({:.2}–{:.2})", of.mean, of.low, of.high),
    )
}

fn plain(figure: Option<Interval>) -> String {
    figure.map_or_else(|| "–".to_owned(), |of| format!("{:.2}", of.mean))
}

/// How often another strategy did it, and how the own turn had ended.
fn fell_back(rows: &[&Row]) -> String {
    let mut ends: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for row in rows.iter().filter(|row| row.measured.fell_back) {
        *ends
            .entry(row.measured.ended.as_deref().unwrap_or("unknown"))
            .or_default() += 1;
    }
    if ends.is_empty() {
        return "0".to_owned();
    }
    let ends: Vec<String> = ends
        .iter()
        .map(|(end, times)| format!("{times} {end}"))
        .collect();
    ends.join(", ")
}

fn times(rows: &[&Row]) -> String {
    let mut times: Vec<f64> = rows.iter().filter_map(|row| row.measured.time_ms).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied();
    match (at(0.5), at(0.95)) {
        (Some(median), Some(high)) => format!("{median:.1}, {high:.1}"),
        _ => "–".to_owned(),
    }
}
