//! What names are worth, and which have been said.

use crate::names::{LostName, WeightedNames};
use crate::{scan, weights};

/// What names are worth, and which have been said.
pub(super) struct Worths<'a> {
    names: WeightedNames<'a>,
    /// By the index of the name; 0 for those that are said.
    left: Vec<f64>,
}

impl<'a> Worths<'a> {
    pub(super) fn of(names: WeightedNames<'a>, lost: &[LostName<'a>]) -> Self {
        let all: f64 = lost.iter().map(|lost| lost.weight).sum();
        let most = lost.len() as f64 * 0.5;
        let scale = weights::names_used_again().min(most) / all.max(f64::MIN_POSITIVE);
        let mut left = vec![0.0; names.count()];
        for lost in lost {
            left[lost.index] = (lost.weight * scale).min(weights::most_of_a_name());
        }
        Self { names, left }
    }

    pub(super) fn of_name(&self, index: usize) -> f64 {
        self.left[index]
    }

    /// Returns the indices of the names in a text that are worth something.
    pub(super) fn names_in(&self, text: &str) -> Vec<usize> {
        let found = scan::names(text).filter_map(|name| self.names.index(name));
        let mut found: Vec<usize> = found.filter(|index| self.of_name(*index) > 0.0).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn sum(&self, names: &[usize]) -> f64 {
        names.iter().map(|index| self.of_name(*index)).sum()
    }

    pub(super) fn say(&mut self, names: &[usize]) {
        for index in names {
            self.left[*index] = 0.0;
        }
    }
}
