use std::cell::OnceCell;
use std::collections::VecDeque;
use std::ops::Range;

use crate::model::{self, Answers, Model};
use crate::{Level, Message, Tool, Unit};

/// Where a [`Conversation`] comes from: the host, or a [`testing::Recording`].
///
/// Strategies use [`Conversation`], which asks for the units only once and reads on where a
/// slice ended early.
///
/// [`testing::Recording`]: crate::testing::Recording
pub trait Source {
    /// All units, oldest first.
    fn units(&self) -> Vec<Unit>;
    /// The messages of up to `count` units from `first` on, perhaps of fewer.
    fn read(&self, first: u32, count: u32) -> Vec<Vec<Message>>;
    /// A reference by which the unit can be had back.
    fn reference(&self, unit: u32) -> Option<String>;
    /// The tools that the request offers to the model.
    fn tools(&self) -> Vec<Tool>;
    /// Tokens of `text` alone.
    fn count(&self, text: &str) -> u32;
    /// Tells the people who run the strategy.
    fn log(&self, level: Level, message: &str);
    /// The script that stands for the model in a test. The host's own model is asked past its
    /// source, so that only a strategy that asks it imports it.
    fn model(&self) -> Option<&dyn Answers> {
        None
    }
}

/// One conversation, for one call: figures at once, text on demand.
#[derive(Clone)]
pub struct Conversation<'a> {
    source: &'a dyn Source,
    units: OnceCell<Vec<Unit>>,
}

impl std::fmt::Debug for Conversation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conversation")
            .field("units", &self.units)
            .finish_non_exhaustive()
    }
}

impl<'a> Conversation<'a> {
    /// How many units one slice asks for unless told otherwise.
    const SLICE: usize = 64;

    /// A conversation over a source.
    pub fn new(source: &'a dyn Source) -> Self {
        Self {
            source,
            units: OnceCell::new(),
        }
    }

    /// All units, oldest first. A unit's index here is its number everywhere else. The host
    /// is asked once.
    pub fn units(&self) -> &[Unit] {
        self.units.get_or_init(|| self.source.units())
    }

    /// The messages of these units with the units' numbers, oldest first, fetched in slices
    /// as the iterator goes on.
    pub fn read(&self, units: Range<usize>) -> Read<'_> {
        self.read_in_slices(units, Self::SLICE)
    }

    /// As [`read`](Self::read), with a slice size of the caller's. A small one suits a search
    /// that may soon be over.
    pub fn read_in_slices(&self, units: Range<usize>, slice: usize) -> Read<'_> {
        Read {
            source: self.source,
            next: units.start,
            end: units.end.min(self.units().len()),
            slice: slice.max(1),
            fetched: VecDeque::new(),
        }
    }

    /// The messages of one unit; none where there is no such unit.
    pub fn messages(&self, unit: usize) -> Vec<Message> {
        self.read_in_slices(unit..unit.saturating_add(1), 1)
            .next()
            .map_or_else(Vec::new, |(_, messages)| messages)
    }

    /// A short, stable reference by which the unit can be had back later, where there is an
    /// archive.
    pub fn reference(&self, unit: usize) -> Option<String> {
        u32::try_from(unit)
            .ok()
            .and_then(|unit| self.source.reference(unit))
    }

    /// The tools that the request offers to the model.
    pub fn tools(&self) -> Vec<Tool> {
        self.source.tools()
    }

    /// Tokens of `text` alone, as the host counts them for the model in use.
    pub fn count(&self, text: &str) -> u32 {
        self.source.count(text)
    }

    /// The model that the strategy may ask; none where it was not granted or none is set. A
    /// component whose code calls this imports the model and needs the user's grant to run.
    pub fn model(&self) -> Option<Model<'_>> {
        model::of(self.source.model())
    }

    /// Logs for the strategy's author.
    pub fn debug(&self, message: &str) {
        self.source.log(Level::Debug, message);
    }

    /// Logs what happened.
    pub fn info(&self, message: &str) {
        self.source.log(Level::Info, message);
    }

    /// Logs what somebody should look at.
    pub fn warn(&self, message: &str) {
        self.source.log(Level::Warn, message);
    }

    /// Logs what went wrong.
    pub fn error(&self, message: &str) {
        self.source.log(Level::Error, message);
    }
}

/// The iterator of [`Conversation::read`].
pub struct Read<'a> {
    source: &'a dyn Source,
    next: usize,
    end: usize,
    slice: usize,
    fetched: VecDeque<Vec<Message>>,
}

impl std::fmt::Debug for Read<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Read")
            .field("next", &self.next)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl Iterator for Read<'_> {
    type Item = (usize, Vec<Message>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        if self.fetched.is_empty() {
            let count = self.slice.min(self.end - self.next);
            self.fetched = self
                .source
                .read(u32::try_from(self.next).ok()?, u32::try_from(count).ok()?)
                .into();
        }
        // The host gives at least one unit while there is one; if it does not, this ends.
        let messages = self.fetched.pop_front()?;
        self.next += 1;
        Some((self.next - 1, messages))
    }
}

#[cfg(test)]
mod tests {
    use crate::Conversation;
    use crate::testing::Recording;

    #[test]
    fn reading_goes_on_where_the_host_stopped_early() {
        let recording = (0..10)
            .fold(Recording::new(), |recording, n| {
                recording.user(&n.to_string())
            })
            .slices_of(3);
        let conversation = Conversation::new(&recording);
        let read: Vec<usize> = conversation.read(2..99).map(|(unit, _)| unit).collect();
        assert_eq!(read, [2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn nothing_is_read_ahead_of_the_slice() {
        let recording = (0..100).fold(Recording::new(), |recording, n| {
            recording.user(&n.to_string())
        });
        let conversation = Conversation::new(&recording);
        assert_eq!(
            conversation
                .read_in_slices(0..100, 5)
                .next()
                .map(|(unit, _)| unit),
            Some(0)
        );
        assert_eq!(recording.units_read(), 5);
    }

    #[test]
    fn a_unit_that_is_not_there_has_no_messages() {
        let recording = Recording::new().user("hello");
        assert!(Conversation::new(&recording).messages(1).is_empty());
    }
}
