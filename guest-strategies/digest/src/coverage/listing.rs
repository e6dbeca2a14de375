//! Names that no entry says: which are written, and where.

use std::collections::{BTreeMap, BTreeSet};

use super::worths::Worths;
use crate::actions::Action;
use crate::names::{LostName, SHOWN, WeightedNames};
use crate::section::Section;
use crate::writer::Writer;
use crate::{shares, weights};

/// Bytes between two names of a list.
const BETWEEN: usize = 2;

/// Tokens that names without an action may take in any digest. A user may answer with one of them.
const LEAST_BARE: f64 = 100.0;

/// The names that are chosen so far, and those that are next.
pub(super) struct Listing<'l, 'a> {
    names: WeightedNames<'a>,
    /// Labels of actions, behind which names can be written.
    actions: BTreeSet<usize>,
    next: &'l [LostName<'a>],
    chosen: Vec<LostName<'a>>,
    /// Number of chosen names by label.
    labels: BTreeMap<usize, usize>,
    /// Estimated tokens of what is chosen.
    pub(super) tokens: f64,
    /// Estimated tokens that names without an action may still take.
    bare: f64,
}

impl<'l, 'a> Listing<'l, 'a> {
    /// Lists some of `lost`, which are sorted by what they are worth for their length, in a digest of at most `tokens`.
    pub(super) fn of(
        names: WeightedNames<'a>,
        actions: &BTreeMap<String, (usize, Action)>,
        lost: &'l [LostName<'a>],
        tokens: u32,
    ) -> Self {
        let labels = actions.keys().filter_map(|label| names.label_index(label));
        Self {
            names,
            actions: labels.collect(),
            next: lost,
            chosen: Vec::new(),
            labels: BTreeMap::new(),
            tokens: 0.0,
            bare: (f64::from(tokens) * weights::bare_names()).max(LEAST_BARE),
        }
    }

    /// Whether a name can be written after an action, and does not need the list.
    fn is_attached(&self, name: &LostName<'_>) -> bool {
        let chosen = self.labels.get(&name.label).copied().unwrap_or(0);
        self.actions.contains(&name.label) && chosen < shares::ATTACHED_NAMES
    }

    /// Returns the tokens that a name takes.
    fn tokens_of(&self, name: &LostName<'_>) -> f64 {
        let label = match self.labels.contains_key(&name.label) {
            true => 0,
            false => self.names.label(name.label).len().min(SHOWN),
        };
        tokens((name.name.len() + label) as f64)
    }

    /// Returns what the next name adds per token; `None` if there is none.
    pub(super) fn per_token(&mut self, worths: &Worths<'_>) -> Option<f64> {
        while let Some((first, others)) = self.next.split_first() {
            let worth = worths.of_name(first.index);
            let is_attached = self.is_attached(first);
            let fits = is_attached || self.tokens_of(first) <= self.bare;
            if worth > 0.0 && fits {
                let share = match is_attached {
                    true => weights::attached(),
                    false => weights::listed(),
                };
                return Some(worth * share / tokens(first.name.len() as f64));
            }
            // Something has said it, or the list is long enough.
            self.next = others;
        }
        None
    }

    /// Chooses the next name if it fits within `room` tokens. Otherwise no more are chosen.
    pub(super) fn take(&mut self, room: f64) {
        let Some((first, others)) = self.next.split_first() else {
            return;
        };
        let needed = self.tokens_of(first);
        if needed > room {
            self.next = &[];
            return;
        }
        if !self.is_attached(first) {
            self.bare -= needed;
        }
        self.next = others;
        self.tokens += needed;
        *self.labels.entry(first.label).or_default() += 1;
        self.chosen.push(*first);
    }

    /// Returns the chosen names that no entry has said since.
    pub(super) fn left(self, worths: &Worths<'_>) -> Vec<LostName<'a>> {
        let mut chosen = self.chosen;
        chosen.retain(|lost| worths.of_name(lost.index) > 0.0);
        chosen
    }
}

/// Estimates the tokens of a name with this many bytes in a list.
fn tokens(bytes: f64) -> f64 {
    (bytes + BETWEEN as f64) / shares::NAMES_BYTES_PER_TOKEN
}

/// Writes the names: behind the actions that they belong to, and the rest as a list. Leaves out the last ones
/// if they do not fit. Returns how many are written.
pub(crate) fn write_names(
    writer: &mut Writer<'_, '_>,
    actions: &BTreeMap<String, (usize, Action)>,
    names: WeightedNames<'_>,
    listed: &[LostName<'_>],
) -> usize {
    let mut number = listed.len();
    for _ in 0..shares::ROUNDS_OF_NAMES {
        if number == 0 {
            return 0;
        }
        let mut entries = Vec::new();
        let mut list = Vec::new();
        for (label, own) in names.groups(&listed[..number]) {
            match actions.get(names.label(label)) {
                Some((place, action)) => {
                    let most = shares::ATTACHED_NAMES.saturating_sub(action.names());
                    let (with, rest) = own.split_at(own.len().min(most));
                    entries.push((Section::Done, *place, action.line_with(with)));
                    if !rest.is_empty() {
                        list.push(names.line(label, rest));
                    }
                }
                None => list.push(names.line(label, &own)),
            }
        }
        entries.extend(
            list.into_iter()
                .enumerate()
                .map(|(place, line)| (Section::Names, place, line)),
        );
        match writer.replace_all(&entries) {
            Ok(()) => return number,
            Err(share) => {
                let fewer = number as f64 * share * shares::FEWER_NAMES;
                number = (fewer as usize).min(number - 1);
            }
        }
    }
    0
}
