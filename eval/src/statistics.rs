//! Means over conversations, and how sure they are.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::run::{Evaluation, Row};

/// Draws of a bootstrap.
const DRAWS: usize = 1_000;

/// A mean over conversations with the interval in which 95 % of the bootstrap's means lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Its lower bound.
    pub low: f64,
    /// Its upper bound.
    pub high: f64,
    /// Conversations that it rests on.
    pub conversations: usize,
}

/// Figures of strategies, by set.
#[derive(Debug)]
pub struct Summary<'a> {
    evaluation: &'a Evaluation,
}

impl<'a> Summary<'a> {
    /// Of an evaluation.
    #[must_use]
    pub const fn of(evaluation: &'a Evaluation) -> Self {
        Self { evaluation }
    }

    /// The sets that say something, in order.
    #[must_use]
    pub fn sets(&self) -> Vec<&'a str> {
        let mut sets: Vec<&str> = self
            .evaluation
            .results
            .iter()
            .filter(|result| !result.rows.is_empty())
            .map(|result| result.set.as_str())
            .collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// The budgets in thousandths, smallest first.
    #[must_use]
    pub fn budgets(&self) -> Vec<u32> {
        let mut budgets: Vec<u32> = self.rows().map(|row| row.budget).collect();
        budgets.sort_unstable();
        budgets.dedup();
        budgets
    }

    /// The names of strategies and baselines, in the order in which they were run.
    #[must_use]
    pub fn strategies(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for row in self.rows() {
            if !names.contains(&row.strategy.as_str()) {
                names.push(&row.strategy);
            }
        }
        names
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &'a Row> {
        self.evaluation
            .results
            .iter()
            .flat_map(|result| &result.rows)
    }

    /// Conversations and cuts of a set.
    #[must_use]
    pub fn rests_on(&self, set: &str) -> (usize, usize) {
        let of_set = self
            .evaluation
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

    /// A figure of a strategy under a budget, over the conversations of these sets: the mean
    /// over cuts, then over conversations, then over sets, all sets with equal weight. None where no set
    /// says anything.
    #[must_use]
    pub fn mean(
        &self,
        sets: &[&str],
        strategy: &str,
        budget: u32,
        figure: &dyn Fn(&Row) -> Option<f64>,
    ) -> Option<Interval> {
        let mut by_set: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for result in &self.evaluation.results {
            if !sets.contains(&result.set.as_str()) {
                continue;
            }
            let values: Vec<f64> = result
                .rows
                .iter()
                .filter(|row| row.strategy == strategy && row.budget == budget)
                .filter_map(figure)
                .collect();
            if !values.is_empty() {
                by_set.entry(&result.set).or_default().push(mean(&values));
            }
        }
        if by_set.is_empty() {
            return None;
        }
        let of_sets = |draw: &mut dyn FnMut(&[f64]) -> f64| {
            let means: Vec<f64> = by_set.values().map(|values| draw(values)).collect();
            mean(&means)
        };
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let mut draws: Vec<f64> = (0..DRAWS)
            .map(|_| {
                of_sets(&mut |values| {
                    let drawn = (0..values.len()).map(|_| values[random.below(values.len())]);
                    drawn.sum::<f64>() / values.len() as f64
                })
            })
            .collect();
        draws.sort_by(f64::total_cmp);
        Some(Interval {
            mean: of_sets(&mut mean),
            low: draws[DRAWS / 40],
            high: draws[DRAWS - DRAWS / 40 - 1],
            conversations: by_set.values().map(Vec::len).sum(),
        })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Numbers that are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}
