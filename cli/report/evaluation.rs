//! What `baler eval` measured, as charts.

use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeMap;

use super::chart::{Chart, Interval, Panel, Row};
use super::words::Foreign;
use crate::figures::count;

/// What is shown of an evaluation's JSON (`eval/src/table.rs`).
#[derive(Deserialize)]
pub(crate) struct Evaluation {
    summary: Vec<Measured>,
    #[serde(default)]
    baselines: Vec<String>,
    conversations: Vec<Conversation>,
}

#[derive(Deserialize)]
struct Measured {
    /// A share of the history; 0 at recorded compactions.
    budget: f64,
    strategy: String,
    set: String,
    figures: BTreeMap<String, Interval>,
}

#[derive(Deserialize)]
struct Conversation {
    skipped: Option<String>,
}

/// A figure that is charted: its name in JSON and of its file, in words, and what is counted.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    words: &'static str,
    axis: &'static str,
}

pub(crate) const FIGURES: [Figure; 4] = [
    Figure {
        name: "recall",
        words: "Recall",
        axis: "share of the names used again behind the cut that are still there",
    },
    Figure {
        name: "far",
        words: "Far recall",
        axis: "share of the names used again, and last mentioned long before the cut, that are still there",
    },
    Figure {
        name: "instructions",
        words: "Instructions",
        axis: "share of the user’s sentences with a rule in them that are still there word for word",
    },
    Figure {
        name: "last-error",
        words: "Last error",
        axis: "share of the last errors that are still there word for word",
    },
];

/// What stands for all sets together.
const ALL: &str = "all";

impl Evaluation {
    /// One figure by budget.
    pub(crate) fn chart(&self, figure: &Figure, set: &str) -> Chart<'_> {
        let strategies = self.strategies();
        let mut budgets: Vec<f64> = self.summary.iter().map(|row| row.budget).collect();
        budgets.sort_by(f64::total_cmp);
        budgets.dedup();
        let panels = budgets.into_iter().map(|budget| Panel {
            title: match budget {
                0.0 => "at recorded compactions".to_owned(),
                _ => format!("{} % of the history", (budget * 1_000.0).round() / 10.0),
            },
            points: strategies
                .iter()
                .map(|strategy| {
                    let mut rows = self.summary.iter();
                    let row = rows.find(|row| {
                        row.set == set && row.strategy == *strategy && row.budget == budget
                    })?;
                    row.figures.get(figure.name).copied()
                })
                .collect(),
        });
        let of = match set {
            ALL => "all sets, equal weight".to_owned(),
            set => crate::figures::shortened(set),
        };
        Chart {
            title: format!("{} by budget, {of}", figure.words),
            axis: figure.axis,
            panels: panels.collect(),
            rows: strategies
                .iter()
                .map(|name| Row {
                    name,
                    is_baseline: self.is_baseline(name),
                })
                .collect(),
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static Figure, Chart<'_>)> {
        FIGURES
            .iter()
            .map(|figure| (figure, self.chart(figure, ALL)))
    }

    fn is_baseline(&self, name: &str) -> bool {
        self.baselines.iter().any(|baseline| baseline == name)
    }

    /// Baselines first, for the rest in the order in which they were run.
    fn strategies(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.summary {
            if !names.contains(&row.strategy.as_str()) {
                names.push(&row.strategy);
            }
        }
        names.sort_by_key(|name| !self.is_baseline(name));
        names
    }

    fn sets(&self) -> Vec<&str> {
        let mut sets: Vec<&str> = self.summary.iter().map(|row| row.set.as_str()).collect();
        sets.retain(|set| *set != ALL);
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// Its part of a page.
    pub(crate) fn section(&self, file: &str, id: usize) -> Markup {
        let skipped = self.conversations.iter();
        let skipped = skipped.filter(|of| of.skipped.is_some()).count();
        let sets = self.sets();
        html! {
            section id={ "f" (id) } {
                h2 { "Evaluation " code { (Foreign(file)) } }
                p {
                    (self.conversations.len() - skipped) " of " (count(self.conversations.len(), "conversation")) " measured, in " (count(sets.len(), "set")) "; of the others too little was needed later, or they could not be used. "
                    "A dot is the mean over cuts, conversations and sets; a whisker the interval of 95 % of a bootstrap over conversations. Hollow: baselines of equal size."
                }
                @if self.summary.is_empty() { p class="muted" { "Nothing was measured." } }
                @else {
                    @for (_, chart) in self.all() { (figure(&chart)) }
                    @if sets.len() > 1 {
                        h3 { "By set" }
                        @for set in sets {
                            details {
                                summary { (Foreign(set)) }
                                @for of in &FIGURES[..2] { (figure(&self.chart(of, set))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn figure(chart: &Chart<'_>) -> Markup {
    html! {
        figure {
            figcaption { (chart.title) }
            div class="scroll" tabindex="0" role="group" aria-label=(chart.title) { (chart.svg()) }
            details { summary { "Figures" } div class="scroll" { (chart.table()) } }
        }
    }
}
