//! What entries cost, each counted once.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::Fact;
use super::order::last_error;
use super::rules::Strength;
use super::section::Section;

/// Tokens of lines, each counted once.
pub struct Costs<'a> {
    count: &'a dyn Fn(&str) -> u32,
    known: BTreeMap<String, u32>,
}

impl std::fmt::Debug for Costs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Costs").finish_non_exhaustive()
    }
}

impl<'a> Costs<'a> {
    /// Costs by what counts the tokens of a text.
    #[must_use]
    pub fn new(count: &'a dyn Fn(&str) -> u32) -> Self {
        Self {
            count,
            known: BTreeMap::new(),
        }
    }

    pub(super) fn of(&mut self, text: &str) -> u32 {
        if let Some(cost) = self.known.get(text) {
            return *cost;
        }
        let cost = (self.count)(&format!("- {text}\n"));
        self.known.insert(text.to_owned(), cost);
        cost
    }

    /// Of a text that is no entry; it is not remembered.
    pub(super) fn of_text(&self, text: &str) -> u32 {
        (self.count)(text)
    }

    pub(super) fn of_heading(&mut self, section: Section) -> u32 {
        self.of(section.heading())
    }
}

/// Tokens of what a digest should hold in any case: the last error and the rules. Counts no
/// further than `limit`.
pub(super) fn needed(facts: &[(usize, &Fact)], limit: u32, costs: &mut Costs<'_>) -> u32 {
    let mut needed = 0u32;
    let mut seen = BTreeSet::new();
    if let Some((_, line)) = last_error(facts) {
        needed += costs.of_heading(Section::Errors) + costs.of(line);
    }
    for (_, fact) in facts {
        if let Fact::Rule(Strength::Rule, rule) = fact
            && seen.insert(rule)
        {
            needed = needed.saturating_add(costs.of(rule));
            if needed > limit {
                break;
            }
        }
    }
    if seen.is_empty() {
        needed
    } else {
        needed.saturating_add(costs.of_heading(Section::Rules))
    }
}
