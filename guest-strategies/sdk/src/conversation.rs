use std::cell::OnceCell;
use std::collections::VecDeque;
use std::ops::Range;

use crate::model::{self, Model, ModelSource};
use crate::{Level, Message, Tool, Unit};

/// What a [`Conversation`] reads from: the host, or a [`testing::Recording`].
///
/// Strategies use [`Conversation`], which asks for the units only once and continues if a slice has fewer
/// units than requested.
///
/// [`testing::Recording`]: crate::testing::Recording
pub trait Source {
    /// Returns all units, oldest first.
    fn units(&self) -> Vec<Unit>;
    /// Returns the messages of up to `count` units, starting with unit `first`, one list for each unit. May
    /// return fewer units than requested, but at least one if unit `first` exists.
    fn read(&self, first: u32, count: u32) -> Vec<Vec<Message>>;
    /// Returns the reference by which the unit can be retrieved from the archive, `None` if there is no
    /// archive.
    fn reference(&self, unit: u32) -> Option<String>;
    /// Returns the tools that the request offers to the model.
    fn tools(&self) -> Vec<Tool>;
    /// Returns the tokens of `text` alone.
    fn count(&self, text: &str) -> u32;
    /// Writes a message to the host's log.
    fn log(&self, level: Level, message: &str);
    /// Returns the scripted model of a test. The host's model is not asked through this trait, so that only a
    /// strategy that calls [`Conversation::model`] imports it.
    fn model(&self) -> Option<&dyn ModelSource> {
        None
    }
}

/// The conversation of one call. The figures of its units are read once, its text on demand.
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
    /// The number of units that [`read`](Self::read) requests at once.
    const SLICE: usize = 64;

    /// Creates a conversation that reads from `source`.
    pub fn new(source: &'a dyn Source) -> Self {
        Self {
            source,
            units: OnceCell::new(),
        }
    }

    /// Returns all units, oldest first. The index of a unit in this slice is its number everywhere else. The
    /// host is asked only once.
    pub fn units(&self) -> &[Unit] {
        self.units.get_or_init(|| self.source.units())
    }

    /// Returns an iterator over these units, oldest first: the index of each unit and its messages. Text is
    /// fetched in slices while the iterator advances. Units past the end are ignored.
    pub fn read(&self, units: Range<usize>) -> Read<'_> {
        self.read_in_slices(units, Self::SLICE)
    }

    /// As [`read`](Self::read), but fetches `slice` units at once. A small slice suits a search that may end
    /// early.
    pub fn read_in_slices(&self, units: Range<usize>, slice: usize) -> Read<'_> {
        Read {
            source: self.source,
            next: units.start,
            end: units.end.min(self.units().len()),
            slice: slice.max(1),
            fetched: VecDeque::new(),
        }
    }

    /// Returns the messages of one unit, an empty list if the unit does not exist.
    pub fn messages(&self, unit: usize) -> Vec<Message> {
        self.read_in_slices(unit..unit.saturating_add(1), 1)
            .next()
            .map_or_else(Vec::new, |(_, messages)| messages)
    }

    /// Returns a short, stable reference by which the unit can be retrieved later, `None` if there is no
    /// archive.
    pub fn reference(&self, unit: usize) -> Option<String> {
        u32::try_from(unit)
            .ok()
            .and_then(|unit| self.source.reference(unit))
    }

    /// Returns the tools that the request offers to the model.
    pub fn tools(&self) -> Vec<Tool> {
        self.source.tools()
    }

    /// Returns the tokens of `text` alone, as the host counts them for the model in use.
    pub fn count(&self, text: &str) -> u32 {
        self.source.count(text)
    }

    /// Returns the model that the strategy may ask, `None` if the user granted none or configured none. A
    /// component whose code calls this method imports the model and needs the user's grant to run.
    pub fn model(&self) -> Option<Model<'_>> {
        model::of(self.source.model())
    }

    /// Logs a message for the author of the strategy.
    pub fn debug(&self, message: &str) {
        self.source.log(Level::Debug, message);
    }

    /// Logs an event.
    pub fn info(&self, message: &str) {
        self.source.log(Level::Info, message);
    }

    /// Logs a problem that someone should look at.
    pub fn warn(&self, message: &str) {
        self.source.log(Level::Warn, message);
    }

    /// Logs an error.
    pub fn error(&self, message: &str) {
        self.source.log(Level::Error, message);
    }
}

/// The iterator of [`Conversation::read`]: the index of a unit and its messages.
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
        // The host returns at least one unit. If it does not, the iterator ends.
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
    fn read_continues_after_a_short_slice() {
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
    fn read_in_slices_fetches_only_the_current_slice() {
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
    fn messages_are_empty_for_a_unit_that_does_not_exist() {
        let recording = Recording::new().user("hello");
        assert!(Conversation::new(&recording).messages(1).is_empty());
    }
}
