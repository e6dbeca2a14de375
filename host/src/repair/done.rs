//! What was mended, as it is noted.

use std::borrow::Cow;

use super::Repair;
use crate::formats::Rule;
use crate::listed::Listed;

/// How much was mended. All of it is counted, however much is listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct RepairCounts {
    /// All repairs.
    pub total: usize,
    /// The same for each rule that was broken.
    pub rules: Vec<RuleRepairs>,
}

/// How much was mended because one rule was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct RuleRepairs {
    /// Which rule.
    pub rule: Rule,
    /// Repairs for it.
    pub repairs: usize,
}

impl RepairCounts {
    fn add(&mut self, rule: Rule, repairs: usize) {
        self.total += repairs;
        match self.rules.binary_search_by_key(&rule, |own| own.rule) {
            Ok(at) => self.rules[at].repairs += repairs,
            Err(at) => self.rules.insert(at, RuleRepairs { rule, repairs }),
        }
    }
}

/// Repairs: the first by message, and the number of all.
pub(crate) struct Repairs {
    listed: Listed<Repair, usize>,
    counts: RepairCounts,
}

impl Default for Repairs {
    fn default() -> Self {
        Self {
            listed: Listed::by(|own: &Repair| own.message),
            counts: RepairCounts::default(),
        }
    }
}

impl Repairs {
    pub(super) fn push(&mut self, rule: Rule, message: usize, what: &'static str) {
        self.counts.add(rule, 1);
        let what = Cow::Borrowed(what);
        self.listed.push(Repair {
            rule,
            message,
            what,
        });
    }

    /// Takes in repairs that were done later.
    pub(super) fn append(&mut self, more: Self) {
        let (listed, counts) = more.finish();
        self.append_told(listed, &counts);
    }

    /// The same of repairs as [`Repairs::finish`] told them.
    pub(super) fn append_told(&mut self, listed: Vec<Repair>, counts: &RepairCounts) {
        for repair in listed {
            self.listed.push(repair);
        }
        for own in &counts.rules {
            self.counts.add(own.rule, own.repairs);
        }
    }

    pub(super) fn total(&self) -> usize {
        self.counts.total
    }

    /// Those that are listed, by message, and the number of all.
    pub(super) fn finish(self) -> (Vec<Repair>, RepairCounts) {
        (self.listed.finish(), self.counts)
    }
}
