//! Repairs of a conversation, and their numbers.

use std::borrow::Cow;
use std::fmt;

use crate::listed::Listed;
use crate::model::rule::Rule;

/// One repair of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Repair {
    /// The rule that was broken.
    pub rule: Rule,
    /// The message's number, from 1, in the conversation that came in; 0 for the conversation
    /// as a whole.
    pub message: usize,
    /// What was done there, without any text of the conversation.
    pub what: Cow<'static, str>,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message == 0 {
            write!(f, "{} ({})", self.what, self.rule)
        } else {
            write!(f, "message {}: {} ({})", self.message, self.what, self.rule)
        }
    }
}

/// The number of repairs. All are counted, including those that are not listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct RepairCounts {
    /// All repairs.
    pub total: usize,
    /// The same for each rule that was broken.
    pub rules: Vec<RuleRepairs>,
}

/// The number of repairs for one rule.
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
    pub(crate) fn push(&mut self, rule: Rule, message: usize, what: &'static str) {
        self.counts.add(rule, 1);
        let what = Cow::Borrowed(what);
        self.listed.push(Repair {
            rule,
            message,
            what,
        });
    }

    /// Takes in repairs that were done later.
    pub(crate) fn append(&mut self, more: Self) {
        let (listed, counts) = more.finish();
        self.append_told(listed, &counts);
    }

    /// The same of repairs as [`Repairs::finish`] told them.
    pub(crate) fn append_told(&mut self, listed: Vec<Repair>, counts: &RepairCounts) {
        for repair in listed {
            self.listed.push(repair);
        }
        for own in &counts.rules {
            self.counts.add(own.rule, own.repairs);
        }
    }

    pub(crate) fn total(&self) -> usize {
        self.counts.total
    }

    /// Those that are listed, by message, and the number of all.
    pub(crate) fn finish(self) -> (Vec<Repair>, RepairCounts) {
        (self.listed.finish(), self.counts)
    }
}
