//! Writes a summary of a conversation without a model.
//!
//! [`Notes`] reads units part by part. [`Notes::write`] writes one text for the removed units, within any
//! budget: what the user asked and ruled, word for word; what was done, with the files, symbols and values
//! that it was done to; what the model said; what failed; to-do lists; and the names
//! that came up, by where they were. The same input gives the same text. A digest that is read again
//! continues in the same sections. Secrets in the texts are masked before anything is read of them.
//!
//! All lookups use trees instead of hash maps: whoever wrote the conversation chose its ids and names, and a
//! guest has no secret key for a hash.
//!
//! ```
//! use baler_digest::{Costs, Notes, Part};
//!
//! let mut notes = Notes::default();
//! notes.read(&[Part::User("Book BX71 to Oslo, never with a night stop.".into())]);
//! notes.read(&[Part::Assistant { text: "I take the 07:40, because the later one is full.".into(), calls: false }]);
//! notes.read(&[Part::Call { id: "1".into(), name: "book".into(), arguments: r#"{"flight": "BX71"}"#.into() }]);
//! let count = |text: &str| text.len() as u32 / 4 + 1;
//! let written = notes.write(&[false, false, false], 100, 10_000, &mut Costs::new(&count));
//! assert!(written.text.contains("never with a night stop"));
//! assert!(written.text.contains("because the later one is full"));
//! ```

mod actions;
mod authors;
mod candidates;
mod checks;
mod commands;
mod costs;
mod coverage;
mod errors;
mod excerpt;
mod facts;
mod labels;
mod lines;
mod listings;
mod looks;
mod name_index;
mod names;
mod part;
mod pastes;
mod priority;
mod repairs;
mod rules;
mod scan;
mod secrets;
mod section;
mod sentences;
pub mod shares;
mod shell_blocks;
mod any_word;
mod statements;
mod story;
mod tasks;
#[cfg(test)]
mod tests;
mod text;
mod values;
mod verbs;
mod weights;
mod work;
mod write;
mod writer;

pub use costs::Costs;
pub use errors::exit_code;
pub use excerpt::{Excerpt, Extent};
pub use labels::{ABOUT_EARLIER, EARLIER_LABEL, OUTPUT_NOTICE, PROGRAM_LABEL, REWRITTEN};
pub use lines::{ends_line, indented, on_one_line, one_word};
pub use part::Part;
pub use pastes::pastes_in;
pub use rules::rules_in;
pub use secrets::{masked, secrets_in};
pub use sentences::each_sentence;
pub use story::{Story, as_summary, without_lists};
pub use work::Work;
pub use write::{Coverage, Written};

use facts::Fact;
use names::Names;
use repairs::Repairs;
use section::EntryLimits;
use write::Source;

/// Whether a line mentions an error in words that tools use. `0 failed` and the like do not count, and neither do lines of
/// files that tools list with their numbers (`80→throw error`) and other statements of source code.
#[must_use]
pub fn mentions_error(line: &str) -> bool {
    errors::is_mentioned(line)
}

/// Whether a line begins as tools report an error, or is what they say of a place in a file, which may be a warning:
/// `src/a.rs:4:1: E226 missing space`.
#[must_use]
pub fn reports_error(line: &str) -> bool {
    errors::begins_like_an_error(line)
}

/// Whether a call of `tool` only looks something up, as far as its name, its arguments in JSON and the command in them show.
#[must_use]
pub fn only_looks(tool: &str, arguments: &str) -> bool {
    actions::Action::of_bare_call(tool, arguments).is_read_only()
}

/// What was read of the units of a conversation, to write digests and excerpts.
#[derive(Debug, Default)]
pub struct Notes {
    facts: Vec<Vec<Fact>>,
    names: Names,
    /// The newest line of an output that mentions an error.
    last_error: Option<String>,
    proposed: shell_blocks::ProposedCommand,
    /// Whether tools were used.
    has_tools: bool,
    /// The agent's own to-do list.
    tasks: tasks::Board,
    /// What may still be read of earlier summaries.
    entry_limits: EntryLimits,
}

impl Notes {
    /// Reads the next unit.
    pub fn read(&mut self, parts: &[Part<'_>]) {
        let mut parts = authors::separate_programs(parts);
        // Nothing that is written of them can then hold one, wherever it takes its words from.
        parts.iter_mut().for_each(Part::mask_secrets);
        self.names.read(self.facts.len(), &parts);
        for part in &parts {
            self.has_tools |= work::has_tool(part);
        }
        let unit = self.facts.len();
        let facts = facts::read(unit, &parts, &mut self.tasks, &mut self.entry_limits);
        let is_output = |part: &Part<'_>| matches!(part, Part::Output { .. });
        if parts.iter().any(is_output)
            && let Some(line) = facts.iter().rev().find_map(Fact::error)
        {
            self.last_error = Some(line.to_owned());
        }
        self.facts.push(facts);
        for (unit, ran) in self.proposed.read(unit, &parts) {
            if let Some(facts) = self.facts.get_mut(unit) {
                facts.push(ran);
            }
        }
    }

    /// Returns the kind of work that the conversation is about.
    #[must_use]
    pub const fn work(&self) -> Work {
        match self.has_tools {
            true => Work::Tools,
            false => Work::Chat,
        }
    }

    /// Returns the tokens that the last error of the units that are not `kept` needs.
    #[must_use]
    pub fn needed(&self, kept: &[bool], costs: &mut Costs<'_>) -> u32 {
        costs::needed(&self.of_dropped(kept), costs)
    }

    /// Writes a digest of the units that are not `kept`, of at most `tokens` tokens and `bytes` bytes of
    /// JSON. A unit past the end of `kept` is not kept. The text is empty if there is nothing to say.
    #[must_use]
    pub fn write(
        &self,
        kept: &[bool],
        tokens: u32,
        bytes: usize,
        costs: &mut Costs<'_>,
    ) -> Written {
        self.write_below(&Story::default(), kept, tokens, bytes, costs)
    }

    /// Writes a digest as [`Notes::write`] does, below a story of these units. If the story is whole, what
    /// was done, decided and said is added only if tokens are left. The text is empty if the story does not
    /// fit.
    #[must_use]
    pub fn write_below(
        &self,
        story: &Story,
        kept: &[bool],
        tokens: u32,
        bytes: usize,
        costs: &mut Costs<'_>,
    ) -> Written {
        let facts = self.of_dropped(kept);
        let source = Source {
            facts: &facts,
            repairs: &Repairs::of(&facts),
            tasks: &self.tasks.lines(kept),
            names: self.names.weighed(self.work()),
            kept,
            story: &story::plain(&story.text),
            is_whole: story.is_whole,
        };
        write::write(&source, tokens, bytes, costs)
    }

    /// Shortens a text that was read to about `bytes` bytes: the lines that mention errors or contain the
    /// names that are most likely used again. `None` if nothing is kept.
    #[must_use]
    pub fn excerpt(&self, text: &str, bytes: usize, extent: Extent) -> Option<Excerpt> {
        let must = self.last_error.as_deref();
        let names = self.names.weighed(self.work());
        let text = part::unwrapped(text);
        excerpt::excerpt(&names, must, &masked(&text), bytes, extent)
    }

    /// Returns the last error of the conversation if it is a line of this text.
    #[must_use]
    pub fn last_error_in(&self, text: &str) -> Option<&str> {
        let last = self.last_error.as_deref()?;
        errors::has_line(&masked(&part::unwrapped(text)), last).then_some(last)
    }

    /// Returns the facts of the units that are not `kept`, in order and numbered.
    fn of_dropped(&self, kept: &[bool]) -> Vec<(usize, &Fact)> {
        let is_kept = |unit: usize| kept.get(unit).copied().unwrap_or(false);
        let units = self.facts.iter().enumerate();
        units
            .filter(|(unit, _)| !is_kept(*unit))
            .flat_map(|(_, facts)| facts)
            .enumerate()
            .collect()
    }
}
