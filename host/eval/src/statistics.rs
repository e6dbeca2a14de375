//! Means over conversations, with confidence intervals.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::constraints::ConstraintRow;
use crate::run::{ConversationResult, Evaluation, Row};

/// The number of draws of a bootstrap.
const DRAWS: usize = 1_000;

/// A mean over conversations with its 95 % bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The lower bound of the interval.
    pub low: f64,
    /// The upper bound of the interval.
    pub high: f64,
    /// The number of conversations.
    pub conversations: usize,
}

/// The fewest conversations of which an interval says how certain a mean is: of fewer, a bootstrap draws the same ones again.
pub(crate) const LEAST: usize = 10;

impl Interval {
    /// Returns the mean of values of which each is of one conversation. All are 0 without values.
    pub(crate) fn of(values: &[f64]) -> Self {
        Self::of_sets(&[values.to_vec()])
    }

    /// Returns the mean over sets, which have equal weight, of such means.
    fn of_sets(sets: &[Vec<f64>]) -> Self {
        let of = |draw: &mut dyn FnMut(&[f64]) -> f64| {
            let means: Vec<f64> = sets.iter().map(|values| draw(values)).collect();
            mean(&means)
        };
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let mut draws: Vec<f64> = (0..DRAWS)
            .map(|_| of(&mut |values| drawn(values, &mut random)))
            .collect();
        draws.sort_by(f64::total_cmp);
        Self {
            mean: of(&mut mean),
            low: draws[DRAWS / 40],
            high: draws[DRAWS - DRAWS / 40 - 1],
            conversations: sets.iter().map(Vec::len).sum(),
        }
    }
}

/// Figures of strategies, by set.
impl Evaluation {
    /// Returns the sets with figures, sorted.
    pub(crate) fn sets(&self) -> Vec<&str> {
        let mut sets: Vec<&str> = self
            .results
            .iter()
            .filter(|result| !result.rows.is_empty())
            .map(|result| result.set.as_str())
            .collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// Returns the budgets in thousandths, smallest first.
    pub(crate) fn budgets(&self) -> Vec<u32> {
        let mut budgets: Vec<u32> = self.rows().map(|row| row.budget).collect();
        budgets.sort_unstable();
        budgets.dedup();
        budgets
    }

    /// Returns the names of strategies and baselines, in the order in which they ran.
    pub(crate) fn strategies(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in self.rows() {
            if !names.contains(&row.strategy.as_str()) {
                names.push(&row.strategy);
            }
        }
        names
    }

    /// Returns all rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.results.iter().flat_map(|result| &result.rows)
    }

    /// Returns the number of cuts of these sets at which a strategy ran under a budget, and at how many of these its result
    /// is over it.
    pub(crate) fn over(&self, sets: &[&str], strategy: &str, budget: u32) -> (usize, usize) {
        let results = self.results.iter();
        let of_sets = results.filter(|result| sets.contains(&result.set.as_str()));
        let rows = of_sets.flat_map(|result| &result.rows);
        let own = rows.filter(|row| row.strategy == strategy && row.budget == budget);
        own.fold((0, 0), |(cuts, over), row| {
            (cuts + 1, over + usize::from(row.measured.is_over))
        })
    }

    /// Returns the constraints of all conversations.
    pub(crate) fn constraints(&self) -> impl Iterator<Item = &ConstraintRow> {
        let results = self.results.iter();
        results.flat_map(|result| &result.constraints)
    }

    /// Returns the numbers of conversations and cuts of a set.
    pub(crate) fn size_of(&self, set: &str) -> (usize, usize) {
        let of_set = self
            .results
            .iter()
            .filter(|result| result.set == set && !result.rows.is_empty());
        of_set.fold((0, 0), |(conversations, cuts), result| {
            let mut own: Vec<usize> = result.rows.iter().map(|row| row.cut).collect();
            own.sort_unstable();
            own.dedup();
            (conversations + 1, cuts + own.len())
        })
    }

    /// Returns the mean of a figure of a strategy under a budget: over cuts, then over conversations, then
    /// over these sets, which have equal weight. `None` if no set has this figure.
    pub(crate) fn mean(
        &self,
        sets: &[&str],
        strategy: &str,
        budget: u32,
        figure: &dyn Fn(&Row) -> Option<f64>,
    ) -> Option<Interval> {
        self.mean_of(sets, &|result| {
            let rows = result.rows.iter();
            rows.filter(|row| row.strategy == strategy && row.budget == budget)
                .filter_map(figure)
                .collect()
        })
    }

    /// Returns the mean of these values of each conversation, then over conversations, then over these sets, which
    /// have equal weight. `None` if no conversation has any.
    pub(crate) fn mean_of(
        &self,
        sets: &[&str],
        values: &dyn Fn(&ConversationResult) -> Vec<f64>,
    ) -> Option<Interval> {
        let mut by_set: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for result in &self.results {
            if !sets.contains(&result.set.as_str()) {
                continue;
            }
            let values = values(result);
            if !values.is_empty() {
                by_set.entry(&result.set).or_default().push(mean(&values));
            }
        }
        let sets: Vec<Vec<f64>> = by_set.into_values().collect();
        (!sets.is_empty()).then(|| Interval::of_sets(&sets))
    }
}

/// Returns the mean of as many values as there are, drawn with repetition.
fn drawn(values: &[f64], random: &mut Random) -> f64 {
    let drawn: Vec<f64> = (0..values.len())
        .map(|_| values[random.below(values.len())])
        .collect();
    mean(&drawn)
}

/// Returns the mean of values, 0 without any.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Pseudo-random numbers, the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}
