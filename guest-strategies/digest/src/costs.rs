//! Token counts of entries, each counted once.

use std::collections::BTreeMap;

use super::facts::Fact;
use super::priority::last_error;
use super::repairs::Repairs;
use super::section::Section;

/// Counts the tokens of texts, and remembers those of entries.
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
    /// Creates an empty cache over `count`, which returns the tokens of a text.
    #[must_use]
    pub fn new(count: &'a dyn Fn(&str) -> u32) -> Self {
        Self {
            count,
            known: BTreeMap::new(),
        }
    }

    /// Returns the tokens of a text as an entry of a list.
    pub(super) fn of(&mut self, text: &str) -> u32 {
        if let Some(cost) = self.known.get(text) {
            return *cost;
        }
        let cost = (self.count)(&format!("- {text}\n"));
        self.known.insert(text.to_owned(), cost);
        cost
    }

    /// Returns the tokens of a text that is not an entry. They are not remembered.
    pub(super) fn of_text(&self, text: &str) -> u32 {
        (self.count)(text)
    }

    pub(super) fn of_heading(&mut self, section: Section) -> u32 {
        self.of(section.heading())
    }
}

/// Returns the tokens of the last error, which a digest should always contain.
pub(super) fn needed(facts: &[(usize, &Fact)], costs: &mut Costs<'_>) -> u32 {
    last_error(facts, &Repairs::of(facts)).map_or(0, |(_, line)| {
        costs.of_heading(Section::Errors) + costs.of(&Section::Errors.labelled(&line))
    })
}
