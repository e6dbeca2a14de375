//! Remembers views by the content of the histories that they are of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use baler_conversation::Conversation;
use baler_conversation::document::Prefix;

use super::View;
use super::count::{Count, Sent};

/// Views that are remembered. One that was forgotten is computed anew.
const VIEWS: usize = 256;

/// Messages that must arrive after a compaction that made nothing smaller before the next one is tried. Each time that it
/// was in vain again, twice as many, up to the second.
const RETRY_AFTER: [usize; 2] = [4, 32];

/// The views of the newest histories, found by what these begin with. So branches and sub-agents have views of their own,
/// whatever their programs call them, and a history that was rewound gets the view that it had. Safe to use from many
/// threads.
///
/// Use separate `Views` for histories of different owners.
#[derive(Debug, Default)]
pub struct Views(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    /// By the hash of what a view covers.
    views: Recent<Arc<View>>,
    /// By the hash of a whole history of which nothing could be made smaller: the messages until the next try.
    futile: Recent<usize>,
    /// By the hash of a whole history: what the provider counted of it as it was shown.
    counts: Recent<Count>,
}

/// Values by hashes, without the ones that were not used for the longest time.
#[derive(Debug)]
struct Recent<T> {
    values: HashMap<Prefix, (u64, T)>,
    uses: u64,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self {
            values: HashMap::new(),
            uses: 0,
        }
    }
}

impl<T: Clone> Recent<T> {
    fn get(&mut self, prefix: &Prefix) -> Option<T> {
        self.uses += 1;
        let (used, value) = self.values.get_mut(prefix)?;
        *used = self.uses;
        Some(value.clone())
    }

    fn insert(&mut self, prefix: Prefix, value: T) {
        self.uses += 1;
        self.values.insert(prefix, (self.uses, value));
        if self.values.len() > VIEWS {
            let oldest = self.values.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(prefix, _)| *prefix) {
                self.values.remove(&oldest);
            }
        }
    }
}

impl Memory {
    /// Returns the messages since it was in vain the last time, and those until the next try.
    fn futile_of(&mut self, prefixes: &[Prefix]) -> Option<(usize, usize)> {
        let newest_first = prefixes.iter().rev().enumerate();
        let mut last = newest_first.take(RETRY_AFTER[1] * 2);
        last.find_map(|(since, prefix)| Some((since, self.futile.get(prefix)?)))
    }
}

impl Views {
    /// Remembers a view, for example one that was stored.
    pub fn remember(&self, view: View) -> Arc<View> {
        let view = Arc::new(view);
        self.with(|memory| memory.views.insert(view.prefix, Arc::clone(&view)));
        view
    }

    /// Forgets a view, of a history that the provider refused as it was shown. The next compaction is tried a few messages
    /// later.
    pub fn forget(&self, view: &View, history: &Conversation) {
        self.with(|memory| memory.views.values.remove(&view.prefix));
        self.note_futile(&history.prefixes());
    }

    /// Returns the view that covers most of a history with these hashes.
    pub(super) fn find(&self, prefixes: &[Prefix]) -> Option<Arc<View>> {
        self.with(|memory| {
            let views = &mut memory.views;
            prefixes.iter().rev().find_map(|prefix| views.get(prefix))
        })
    }

    /// Remembers that nothing of a history could be made smaller.
    pub(super) fn note_futile(&self, prefixes: &[Prefix]) {
        let Some(whole) = prefixes.last() else {
            return;
        };
        let [first, most] = RETRY_AFTER;
        self.with(|memory| {
            let wait = memory
                .futile_of(prefixes)
                .map_or(first, |(_, wait)| wait * 2);
            memory.futile.insert(*whole, wait.min(most));
        });
    }

    /// Whether that was so a few messages ago.
    pub(super) fn is_futile(&self, prefixes: &[Prefix]) -> bool {
        self.with(|memory| {
            let last = memory.futile_of(prefixes);
            last.is_some_and(|(since, wait)| since < wait)
        })
    }

    /// Notes the size of a request as its provider counted it: all tokens of the prompt, those that came from a cache
    /// included, without the answer. From then on this history, and what it grows to, has that size plus the host's count of
    /// what was added, until the next compaction.
    ///
    /// Less than four fifths of the host's count is not believed, nor is more than four times as much.
    pub fn note_count(&self, sent: &Sent, tokens: u64) {
        if let Some(count) = Count::new(sent, tokens) {
            self.with(|memory| memory.counts.insert(sent.history, count));
        }
    }

    /// Returns the newest count of what a history with these hashes begins with, shown by the same view.
    pub(super) fn count(&self, prefixes: &[Prefix], view: Option<&View>) -> Option<Count> {
        self.with(|memory| {
            let mut newest_first = prefixes.iter().rev();
            newest_first.find_map(|prefix| {
                let count = memory.counts.get(prefix)?;
                count.is_of(view).then_some(count)
            })
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Memory) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
