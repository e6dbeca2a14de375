mod error;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{Change, Conversation, Edit, Insertion, Piece, Plan, Reason, Rewrite, Span};

pub use error::DraftError;

/// A plan in the making: what becomes of each unit, set in whatever order suits.
///
/// Units start out dropped. [`build`](Self::build) puts everything into the order that the
/// contract asks for, so a plan can neither name a unit twice nor out of order.
#[derive(Debug, Clone)]
pub struct Draft {
    kept: Vec<bool>,
    rewrites: BTreeMap<usize, BTreeMap<(u32, u32), Change>>,
    insertions: Vec<(usize, Insertion)>,
    reasons: Vec<Reason>,
    error: Option<DraftError>,
}

impl Draft {
    /// A draft for so many units that drops them all.
    pub fn dropping(units: usize) -> Self {
        Self {
            kept: vec![false; units],
            rewrites: BTreeMap::new(),
            insertions: Vec::new(),
            reasons: Vec::new(),
            error: None,
        }
    }

    /// A draft for so many units that keeps them all.
    pub fn keeping(units: usize) -> Self {
        let mut draft = Self::dropping(units);
        draft.kept.fill(true);
        draft
    }

    /// A draft that keeps the protected units of the conversation and drops the others.
    pub fn of_protected(conversation: &Conversation<'_>) -> Self {
        let mut draft = Self::dropping(0);
        draft.kept = conversation
            .units()
            .iter()
            .map(crate::Unit::is_protected)
            .collect();
        draft
    }

    /// Keeps a unit verbatim, edits taken back.
    pub fn keep(&mut self, unit: usize) -> &mut Self {
        self.set(unit..unit.saturating_add(1), true)
    }

    /// Keeps these units verbatim, edits taken back.
    pub fn keep_range(&mut self, units: Range<usize>) -> &mut Self {
        self.set(units, true)
    }

    /// Drops a unit.
    pub fn drop(&mut self, unit: usize) -> &mut Self {
        self.set(unit..unit.saturating_add(1), false)
    }

    /// Keeps a unit with the changes that are made to the answer.
    pub fn rewrite(&mut self, unit: usize) -> Rewriting<'_> {
        if let Some(kept) = self.kept.get_mut(unit) {
            *kept = true;
        } else {
            self.missing(unit);
        }
        Rewriting {
            edits: self.rewrites.entry(unit).or_default(),
        }
    }

    /// Inserts a text before a unit, kept or not; the number of units stands for the end.
    /// Several at one place stay in the order in which they were given.
    pub fn insert(&mut self, before: usize, insertion: Insertion) -> &mut Self {
        if before > self.kept.len() {
            self.missing(before);
        }
        self.insertions.push((before, insertion));
        self
    }

    /// Says by a declared code why these units are treated so. Neighbours with the same code
    /// become one reason.
    pub fn reason(&mut self, units: Range<usize>, code: &str) -> &mut Self {
        if units.end > self.kept.len() {
            self.missing(units.end - 1);
        }
        if units.is_empty() {
            return self;
        }
        let (first, count) = (number(units.start), number(units.len()));
        match self.reasons.last_mut() {
            Some(last) if last.code == code && last.units.first + last.units.count == first => {
                last.units.count += count;
            }
            _ => self.reasons.push(Reason {
                units: Span { first, count },
                code: code.to_owned(),
            }),
        }
        self
    }

    /// Whether the unit stays, verbatim or rewritten.
    pub fn keeps(&self, unit: usize) -> bool {
        self.kept.get(unit).copied().unwrap_or(false)
    }

    /// The plan, its pieces in order and its spans as long as they can be.
    ///
    /// # Errors
    /// A unit was named that is not there, or nothing would be left.
    pub fn build(mut self) -> Result<Plan, DraftError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.insertions.sort_by_key(|(before, _)| *before);
        self.rewrites.retain(|_, edits| !edits.is_empty());
        let mut insertions = self.insertions.into_iter().peekable();
        let mut rewrites = self.rewrites.into_iter().peekable();
        let mut pieces = Vec::new();
        let mut next = 0;
        // From one insertion or rewrite to the next there are only spans.
        loop {
            let inserted = insertions.peek().map(|(before, _)| *before);
            let rewritten = rewrites.peek().map(|(unit, _)| *unit);
            let stop = inserted.into_iter().chain(rewritten).min();
            let end = stop.unwrap_or(self.kept.len());
            spans(&self.kept, next..end, &mut pieces);
            next = end;
            if inserted == stop
                && let Some((_, insertion)) = insertions.next()
            {
                pieces.push(Piece::Insert(insertion));
            } else if let Some((unit, edits)) = rewrites.next() {
                pieces.push(Piece::Rewrite(rewrite(unit, edits)));
                next = unit + 1;
            } else {
                break;
            }
        }
        if pieces.is_empty() {
            return Err(DraftError::Empty);
        }
        Ok(Plan {
            pieces,
            reasons: self.reasons,
        })
    }

    fn set(&mut self, units: Range<usize>, kept: bool) -> &mut Self {
        if units.is_empty() {
            return self;
        }
        if let Some(slots) = self.kept.get_mut(units.clone()) {
            slots.fill(kept);
            while !self.rewrites.is_empty()
                && let Some((&unit, _)) = self.rewrites.range(units.clone()).next()
            {
                self.rewrites.remove(&unit);
            }
        } else {
            self.missing(units.end - 1);
        }
        self
    }

    fn missing(&mut self, unit: usize) {
        self.error.get_or_insert(DraftError::NoSuchUnit {
            unit,
            units: self.kept.len(),
        });
    }
}

/// The changes of one unit. The last change of a part counts.
#[derive(Debug)]
pub struct Rewriting<'a> {
    edits: &'a mut BTreeMap<(u32, u32), Change>,
}

impl Rewriting<'_> {
    /// Replaces the text of a part, which must be rewritable, by one that costs fewer tokens
    /// even with the host's mark.
    pub fn text(&mut self, message: usize, part: usize, text: impl Into<String>) -> &mut Self {
        self.edits
            .insert((number(message), number(part)), Change::Text(text.into()));
        self
    }

    /// Leaves a part out that is [removable](crate::PartTraits::REMOVABLE). Thinking leaves a unit
    /// as a whole.
    pub fn remove(&mut self, message: usize, part: usize) -> &mut Self {
        self.edits
            .insert((number(message), number(part)), Change::Remove);
        self
    }
}

/// The kept units of `range` as spans, each as long as it can be.
fn spans(kept: &[bool], range: Range<usize>, pieces: &mut Vec<Piece>) {
    let mut first = range.start;
    let units = kept.get(range).unwrap_or_default();
    for run in units.chunk_by(|one, next| one == next) {
        if run[0] {
            pieces.push(Piece::Keep(Span {
                first: number(first),
                count: number(run.len()),
            }));
        }
        first += run.len();
    }
}

fn rewrite(unit: usize, edits: BTreeMap<(u32, u32), Change>) -> Rewrite {
    Rewrite {
        unit: number(unit),
        edits: edits
            .into_iter()
            .map(|((message, part), change)| Edit {
                message,
                part,
                change,
            })
            .collect(),
    }
}

/// The contract counts in 32 bits. There are never more units, messages or parts than that.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
