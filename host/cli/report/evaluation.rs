//! The section of a page about an evaluation (`baler eval`): charts of what was measured.

use anyhow::anyhow;
use maud::{Markup, html};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::chart::{Chart, Interval, Panel, Point, Row};
use super::words::Untrusted;
use crate::figures::{count, number};

/// The most combinations of set, strategy and budget. More points would slow a browser down.
const ROWS: usize = 20_000;

/// The most sets. Each has its own charts.
const SETS: usize = 200;

/// The fields of an evaluation's JSON that are shown (`host/eval/src/table.rs` writes them).
#[derive(Deserialize)]
pub(crate) struct Evaluation {
    summary: Vec<Measured>,
    #[serde(default)]
    baselines: Vec<String>,
    conversations: Vec<Conversation>,
}

#[derive(Deserialize)]
struct Measured {
    /// The budget as a share of the history, from 0 to 1; 0 at recorded compactions.
    budget: f64,
    strategy: String,
    set: String,
    /// The number of cuts, and at how many of these the result is over the budget.
    #[serde(default)]
    cuts: u64,
    #[serde(default)]
    over: u64,
    figures: Figures,
}

impl Measured {
    /// Whether its results are over the budget at more than one of twenty cuts.
    const fn is_over(&self) -> bool {
        self.over.saturating_mul(20) > self.cuts
    }
}

/// The figures that are charted.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Figures {
    recall: Option<Interval>,
    far: Option<Interval>,
    instructions: Option<Interval>,
    last_error: Option<Interval>,
}

impl Figures {
    fn get(&self, name: &str) -> Option<Interval> {
        match name {
            "recall" => self.recall,
            "far" => self.far,
            "instructions" => self.instructions,
            "last-error" => self.last_error,
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Conversation {
    skipped: Option<IgnoredAny>,
}

/// A figure that is charted: its name in JSON and in file names, its title, and the caption of its axis.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    words: &'static str,
    axis: &'static str,
}

pub(crate) const FIGURES: [Figure; 4] = [
    Figure {
        name: "recall",
        words: "Recall",
        axis: "share of the names used again after the cut that are still there",
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

/// The name of the set that combines all sets.
const ALL: &str = "all";

impl Evaluation {
    /// Fails if a budget is invalid, or if there is more than a page can show: too many rows, or too many
    /// points in the charts, which have a place for every strategy at every budget of every set.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let is_share = |row: &&Measured| (0.0..=1.0).contains(&row.budget);
        if let Some(row) = self.summary.iter().find(|row| !is_share(row)) {
            return Err(anyhow!(
                "expected a share of the history, from 0 to 1, as `budget` in each row of `summary`, found: {:e}",
                row.budget
            ));
        }
        let sets = self.sets().len();
        let strategies = self.strategies().len();
        let rows = self.summary.iter();
        let budgets: BTreeSet<u64> = rows.map(|row| row.budget.to_bits()).collect();
        let points = (sets + 1)
            .saturating_mul(strategies)
            .saturating_mul(budgets.len());
        if sets > SETS || points > ROWS {
            return Err(anyhow!(
                "expected an evaluation of no more than {SETS} sets, and no more than {} combinations of set, \
                 strategy and budget, found: {} sets, {} combinations",
                number(ROWS as u64),
                number(sets as u64),
                number(points as u64)
            ));
        }
        Ok(())
    }

    /// Returns the chart of a figure by budget.
    pub(crate) fn chart(&self, figure: &Figure, set: &str) -> Chart<'_> {
        let mut budgets: Vec<f64> = self.summary.iter().map(|row| row.budget).collect();
        budgets.sort_by(f64::total_cmp);
        budgets.dedup();
        let mut rows: HashMap<(&str, u64), &Measured> = HashMap::new();
        for row in self.summary.iter().filter(|row| row.set.as_str() == set) {
            rows.entry((row.strategy.as_str(), row.budget.to_bits()))
                .or_insert(row);
        }
        // The best first, by the sum over the budgets. Those without a figure are last.
        let mut sums: HashMap<&str, f64> = HashMap::new();
        for row in self.summary.iter().filter(|row| row.set.as_str() == set) {
            if let Some(of) = row.figures.get(figure.name) {
                *sums.entry(row.strategy.as_str()).or_default() += of.mean;
            }
        }
        let mut strategies = self.strategies();
        strategies.sort_by(|one, other| {
            let sum = |name: &str| sums.get(name).copied().unwrap_or(-1.0);
            sum(other).total_cmp(&sum(one))
        });
        let panels = budgets.into_iter().map(|budget| Panel {
            title: match budget {
                0.0 => "at recorded compactions".to_owned(),
                _ => format!("{} % of the history", (budget * 1_000.0).round() / 10.0),
            },
            points: strategies
                .iter()
                .map(|strategy| {
                    let row = rows.get(&(*strategy, budget.to_bits()))?;
                    Some(Point {
                        of: row.figures.get(figure.name)?,
                        is_over: row.is_over(),
                    })
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

    /// Returns the charts of all sets, in the order of [`FIGURES`].
    pub(crate) fn all(&self) -> impl Iterator<Item = Chart<'_>> {
        FIGURES.iter().map(|figure| self.chart(figure, ALL))
    }

    fn is_baseline(&self, name: &str) -> bool {
        self.baselines
            .iter()
            .any(|baseline| baseline.as_str() == name)
    }

    /// Returns the names of the strategies: baselines first, then the others in the order in which they were
    /// run.
    fn strategies(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let mut names: Vec<&str> = self
            .summary
            .iter()
            .map(|row| row.strategy.as_str())
            .collect();
        names.retain(|name| seen.insert(*name));
        names.sort_by_cached_key(|name| !self.is_baseline(name));
        names
    }

    fn sets(&self) -> Vec<&str> {
        let mut sets: Vec<&str> = self.summary.iter().map(|row| row.set.as_str()).collect();
        sets.retain(|set| *set != ALL);
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// Returns the section of a page.
    pub(crate) fn section(&self, file: &str, id: usize) -> Markup {
        let skipped = self.conversations.iter();
        let skipped = skipped.filter(|of| of.skipped.is_some()).count();
        let sets = self.sets();
        html! {
            section id={ "f" (id) } {
                h2 { "Evaluation " code { (Untrusted(file)) } }
                p {
                    (self.conversations.len() - skipped) " of " (count(self.conversations.len(), "conversation")) " measured, in " (count(sets.len(), "set")) "; in the others too little was needed later, or they could not be used. "
                    "A dot is the mean over cuts, conversations and sets; a whisker the interval of 95 % of a bootstrap over conversations, where these are ten or more: a dot without one may be chance. Hollow: baselines of equal size. Starred: over the budget at more than one of twenty cuts, so not to be compared."
                }
                @if self.summary.is_empty() { p class="muted" { "Nothing was measured." } }
                @else {
                    @for chart in self.all().filter(Chart::has_points) { (figure(&chart)) }
                    @if sets.len() > 1 {
                        h3 { "By set" }
                        @for set in sets {
                            details {
                                summary { (Untrusted(set)) }
                                @for chart in FIGURES[..2].iter().map(|of| self.chart(of, set)).filter(Chart::has_points) { (figure(&chart)) }
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
