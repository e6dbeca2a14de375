//! The entries that may still be chosen, the best first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::said::{Said, plain};
use super::worths::Worths;
use crate::candidates::Candidate;
use crate::weights;

/// An entry with the names in it.
pub(super) struct Entry<'a> {
    pub(super) candidate: Candidate<'a>,
    pub(super) names: Vec<usize>,
    /// Its text in the form of [`plain`]; empty if it completes another.
    pub(super) plain: String,
    /// Beginnings of its words by their numbers, if it is in the user's or the model's own words.
    pub(super) words: Vec<usize>,
    /// Estimated tokens.
    tokens: f64,
    /// Whether it completes an entry of which the beginning was chosen.
    pub(super) completes: bool,
}

impl<'a> Entry<'a> {
    /// Creates the entry of a candidate; if the writer has its beginning, of the rest.
    pub(super) fn of(
        candidate: Candidate<'a>,
        worths: &Worths<'_>,
        said: &mut Said,
        is_begun: bool,
    ) -> Self {
        let entry = Self {
            names: worths.names_in(&candidate.text),
            plain: plain(&candidate.text),
            words: said.words_of(&candidate),
            tokens: estimate(&candidate.text),
            candidate,
            completes: false,
        };
        match is_begun {
            true => entry.longer(worths).unwrap_or(entry),
            false => entry,
        }
    }

    /// Returns what the rest of the text adds, if this is only its beginning.
    pub(super) fn longer(&self, worths: &Worths<'_>) -> Option<Self> {
        let short = &self.candidate;
        let text = short.whole.clone()?;
        Some(Self {
            names: worths.names_in(&text),
            plain: String::new(),
            words: Vec::new(),
            tokens: (estimate(&text) - estimate(&short.text)).max(0.0) + 1.0,
            candidate: Candidate {
                section: short.section,
                place: short.place,
                text,
                worth: short.worth * weights::rest(),
                whole: None,
            },
            completes: true,
        })
    }

    /// Returns what the entry adds per token to what is said.
    fn per_token(&self, worths: &Worths<'_>, said: &Said) -> f64 {
        if !self.completes && said.has(&self.plain) {
            return 0.0;
        }
        let own = self.candidate.worth * said.novelty(self.candidate.section, &self.words);
        (own + worths.sum(&self.names)) / self.tokens
    }
}

/// Estimates the tokens of an entry.
fn estimate(text: &str) -> f64 {
    // In scripts outside ASCII, a character has about one token and three bytes.
    text.len() as f64 / 3.5 + 2.0
}

/// All entries, in a heap by what each added when it was last looked at.
#[derive(Default)]
pub(super) struct Queue<'a> {
    entries: Vec<Entry<'a>>,
    heap: BinaryHeap<Queued>,
}

impl<'a> Queue<'a> {
    pub(super) fn push(&mut self, entry: Entry<'a>) {
        self.put_back(Queued {
            per_token: f64::INFINITY,
            index: self.entries.len(),
        });
        self.entries.push(entry);
    }

    pub(super) fn put_back(&mut self, queued: Queued) {
        self.heap.push(queued);
    }

    pub(super) fn entry(&self, queued: &Queued) -> &Entry<'a> {
        &self.entries[queued.index]
    }

    /// Leaves out all entries that were not chosen.
    pub(super) fn give_up(&mut self) {
        self.heap.clear();
    }

    /// Takes the entry that adds most now out of the heap. What an entry adds only falls, so the first that still
    /// adds as much as the next one did is the best. Entries that add too little are dropped.
    pub(super) fn best(&mut self, worths: &Worths<'_>, said: &Said) -> Option<Queued> {
        loop {
            let index = self.heap.pop()?.index;
            let per_token = self.entries[index].per_token(worths, said);
            let now = Queued { per_token, index };
            if per_token < weights::least() {
                continue;
            }
            if self
                .heap
                .peek()
                .is_none_or(|next| next.per_token <= per_token)
            {
                return Some(now);
            }
            self.heap.push(now);
        }
    }
}

/// An entry in the heap, with what it added when it was last looked at.
pub(super) struct Queued {
    pub(super) per_token: f64,
    index: usize,
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of equal ones the first. Values are finite.
        let by_value = self.per_token.total_cmp(&other.per_token);
        by_value.then(other.index.cmp(&self.index))
    }
}
