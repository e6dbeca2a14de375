//! Writes a hand-over of a conversation without a model.
//!
//! [`Notes`] reads units part by part; [`Notes::write`] writes one text of those that are left
//! out, within any budget: what the user asked and ruled, word for word; what was done, with
//! the files, symbols and values it was done to; what was decided and why; what failed; the
//! state of to-do lists and what is open; and the names that came up, by where they stood. The same
//! input gives the same text. All that is looked up stands in trees: ids and names are picked by
//! whoever wrote the conversation, and a guest has no key for a hash that nobody can foresee. A digest that is read again goes on in the same sections.
//!
//! ```
//! use baler_digest::{Costs, Notes, Part};
//!
//! let mut notes = Notes::default();
//! notes.read(&[Part::User("Book BX71 to Oslo, never with a night stop.".into())]);
//! notes.read(&[Part::Assistant { text: "I take the 07:40, because the later one is full.".into(), calls: false }]);
//! let count = |text: &str| text.len() as u32 / 4 + 1;
//! let written = notes.write(&[false, false], 100, 10_000, &mut Costs::new(&count));
//! assert!(written.text.contains("never with a night stop"));
//! assert!(written.text.contains("because the later one is full"));
//! ```

mod actions;
mod costs;
mod decisions;
mod errors;
mod excerpt;
mod facts;
mod failures;
mod fenced;
mod known;
mod labels;
mod lines;
mod members;
mod names;
mod open;
mod order;
mod part;
mod programs;
mod quote;
mod rules;
mod scan;
mod section;
mod sentences;
pub mod shares;
mod story;
#[cfg(test)]
mod tests;
mod text;
mod values;
mod verbs;
mod work;
mod write;
mod writer;

pub use costs::Costs;
pub use errors::exit_code;
pub use excerpt::{Excerpt, Extent};
pub use failures::{BEGINNING, begins_like_a_failure};
pub use labels::{ABOUT_EARLIER, EARLIER_LABEL, PROGRAM_LABEL, REWRITTEN};
pub use lines::{ends_line, indented, is_blank, on_one_line, one_word};
pub use part::Part;
pub use programs::{INSERTED, Parted, is_by_program, own_words, parted};
pub use quote::{own_tag, quoted};
pub use sentences::each_sentence;
pub use story::{Story, after_thinking, as_summary, to_retell, without_headings};
pub use work::Work;
pub use write::{Coverage, Written};

use facts::Fact;
use names::Names;
use section::Room;
use write::Source;

/// Whether a line tells of an error, in words that tools use for it.
#[must_use]
pub fn tells_of_error(line: &str) -> bool {
    errors::tells(line)
}

/// What can be told of the units of a conversation.
#[derive(Debug, Default)]
pub struct Notes {
    facts: Vec<Vec<Fact>>,
    names: Names,
    /// The newest line of an output that tells of an error.
    last_error: Option<String>,
    proposed: fenced::Proposed,
    signs: work::Signs,
    work: Option<Work>,
    /// For entries of earlier summaries.
    room: Room,
}

impl Notes {
    /// Reads the next unit.
    pub fn read(&mut self, parts: &[Part<'_>]) {
        self.read_until(&|| false, parts);
    }

    /// Reads the next unit, until `stop` says so, which is asked for each part, line and sentence. What was read by
    /// then is not all of the unit, so nothing should be written of it.
    pub fn read_until(&mut self, stop: &dyn Fn() -> bool, parts: &[Part<'_>]) {
        let parts = programs::told_apart(parts);
        self.names.read(self.facts.len(), &parts, stop);
        for part in &parts {
            if stop() {
                break;
            }
            self.signs.read(part);
        }
        let facts = facts::read(&parts, stop, &mut self.room);
        let is_output = |part: &Part<'_>| matches!(part, Part::Output { .. });
        if parts.iter().any(is_output)
            && let Some(line) = facts.iter().rev().find_map(Fact::error)
        {
            self.last_error = Some(line.to_owned());
        }
        self.facts.push(facts);
        for (unit, ran) in self.proposed.read(self.facts.len() - 1, &parts) {
            if let Some(facts) = self.facts.get_mut(unit) {
                facts.push(ran);
            }
        }
    }

    /// Says what kind of work it is; otherwise that is guessed by what was read.
    pub const fn set_work(&mut self, work: Work) {
        self.work = Some(work);
    }

    /// What kind of work it is.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work.unwrap_or_else(|| self.signs.guess())
    }

    /// What a text of the units that are not `kept` should cost at least: the last error and
    /// the user's rules have to find room. Counts no further than `limit`.
    #[must_use]
    pub fn needed(&self, kept: &[bool], limit: u32, costs: &mut Costs<'_>) -> u32 {
        costs::needed(&self.of_dropped(kept), limit, costs)
    }

    /// A text of the units that are not `kept`, of at most so many tokens and bytes of JSON. A
    /// unit past the end of `kept` is not kept. Empty where there is nothing to tell.
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

    /// The same below a story of these units. What has to be exact follows it; what was done,
    /// decided and said comes last, for the story tells it. Empty where there is no room for the
    /// story.
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
            names: self.names.weighed(self.work()),
            kept,
            story: &story::plain(&story.text),
            is_whole: story.is_whole,
        };
        write::write(&source, tokens, bytes, costs)
    }

    /// A text that was read, cut to about so many bytes: the lines that tell of errors or hold the
    /// names that are most likely used again. None where nothing is to be kept.
    #[must_use]
    pub fn excerpt(&self, text: &str, bytes: usize, extent: Extent) -> Option<Excerpt> {
        let must = self.last_error.as_deref();
        let names = self.names.weighed(self.work());
        excerpt::excerpt(&names, must, &part::unwrapped(text), bytes, extent)
    }

    /// The last error of the conversation, if it is a line of this text.
    #[must_use]
    pub fn last_error_in(&self, text: &str) -> Option<&str> {
        let last = self.last_error.as_deref()?;
        errors::has_line(&part::unwrapped(text), last).then_some(last)
    }

    /// The facts of the units that are not `kept`, in order and numbered.
    fn of_dropped(&self, kept: &[bool]) -> Vec<(usize, &Fact)> {
        self.facts
            .iter()
            .enumerate()
            .filter(|(unit, _)| !kept.get(*unit).copied().unwrap_or(false))
            .flat_map(|(_, facts)| facts)
            .enumerate()
            .collect()
    }
}
