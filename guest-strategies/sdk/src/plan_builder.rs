mod error;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{Change, Conversation, Edit, Insertion, Piece, Plan, Reason, Rewrite, Run, Span};

pub use error::PlanError;

/// Builds a [`Plan`] from the outcome of each unit, given in any order.
///
/// A later call for a unit replaces an earlier one. [`build`](Self::build) sorts all pieces into the order
/// that the contract requires, so a plan never names a unit twice or out of order. A unit index that does
/// not exist is reported by [`build`](Self::build).
#[derive(Debug, Clone)]
pub struct PlanBuilder {
    kept: Vec<bool>,
    rewrites: BTreeMap<usize, BTreeMap<(u32, u32), Change>>,
    insertions: Vec<(usize, Insertion)>,
    reasons: Vec<Reason>,
    error: Option<PlanError>,
}

impl PlanBuilder {
    /// Starts a plan for `units` units that removes all of them.
    pub fn removing_all(units: usize) -> Self {
        Self {
            kept: vec![false; units],
            rewrites: BTreeMap::new(),
            insertions: Vec::new(),
            reasons: Vec::new(),
            error: None,
        }
    }

    /// Starts a plan for `units` units that keeps all of them.
    pub fn keeping_all(units: usize) -> Self {
        let mut builder = Self::removing_all(units);
        builder.kept.fill(true);
        builder
    }

    /// Starts a plan that keeps the protected units of the conversation and removes all others.
    pub fn keeping_protected(conversation: &Conversation<'_>) -> Self {
        let mut builder = Self::removing_all(0);
        let units = conversation.units().iter();
        builder.kept = units.map(crate::Unit::is_protected).collect();
        builder
    }

    /// Keeps a unit byte-identical. Discards earlier edits of it.
    pub fn keep(&mut self, unit: usize) -> &mut Self {
        self.set(unit..unit.saturating_add(1), true)
    }

    /// Keeps these units byte-identical. Discards earlier edits of them.
    pub fn keep_range(&mut self, units: Range<usize>) -> &mut Self {
        self.set(units, true)
    }

    /// Removes a unit. Discards earlier edits of it.
    pub fn remove(&mut self, unit: usize) -> &mut Self {
        self.set(unit..unit.saturating_add(1), false)
    }

    /// Keeps a unit and returns the editor of its parts. Without an edit, the unit stays byte-identical. Edits of an
    /// earlier `rewrite` of the unit stay.
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

    /// Inserts a text before a unit, whether that unit is kept or removed. `before` equal to the number of
    /// units inserts at the end. Several insertions before one unit stay in the order of the calls.
    pub fn insert(&mut self, before: usize, insertion: Insertion) -> &mut Self {
        if before > self.kept.len() {
            self.missing(before);
        }
        self.insertions.push((before, insertion));
        self
    }

    /// Gives the reason for the outcome of these units, as one of the codes in
    /// [`Strategy::REASON_CODES`](crate::Strategy::REASON_CODES). Adjacent units with the same code become
    /// one reason.
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

    /// Returns whether the plan changes anything: removes or edits a unit, or inserts a text. An excerpt counts, even
    /// if the host would leave its part as it is. A strategy whose plan changes nothing returns [`Report::unchanged`](crate::Report::unchanged).
    pub fn has_changes(&self) -> bool {
        let is_edited = self.rewrites.values().any(|edits| !edits.is_empty());
        is_edited || !self.insertions.is_empty() || self.kept.contains(&false)
    }

    /// Returns whether the unit is kept or rewritten.
    pub fn keeps(&self, unit: usize) -> bool {
        self.kept.get(unit).copied().unwrap_or(false)
    }

    /// Returns the plan, with its pieces in order and adjacent kept units joined into one span.
    ///
    /// # Errors
    /// [`PlanError::NoSuchUnit`] if a call named a unit that does not exist, [`PlanError::Empty`] if the
    /// plan would have no pieces.
    pub fn build(mut self) -> Result<Plan, PlanError> {
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
            return Err(PlanError::Empty);
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
        self.error.get_or_insert(PlanError::NoSuchUnit {
            unit,
            units: self.kept.len(),
        });
    }
}

/// Edits the parts of one unit. A later edit of a part replaces an earlier one.
///
/// Message and part are indices: the message in the unit, the part in the message.
#[derive(Debug)]
pub struct Rewriting<'a> {
    edits: &'a mut BTreeMap<(u32, u32), Change>,
}

impl Rewriting<'_> {
    /// Replaces the text of a part. The part must be [rewritable](crate::PartTraits::REWRITABLE), and the
    /// new text must cost fewer tokens even with the host's mark around it.
    pub fn text(&mut self, message: usize, part: usize, text: impl Into<String>) -> &mut Self {
        self.edits
            .insert((number(message), number(part)), Change::Text(text.into()));
        self
    }

    /// Keeps only these runs of the text of a part, byte for byte: ranges of the text as it was
    /// [read](crate::Conversation::read), in order, without overlaps, each of at least
    /// [`excerpt::SHORTEST_RUN`](crate::excerpt::SHORTEST_RUN) bytes. The host writes where text is missing, and how
    /// much. The part must be [excerptable](crate::PartTraits::EXCERPTABLE). With the host's first line (about 40
    /// tokens) and its line for each gap (about 15), an excerpt of a short text saves nothing; the part then stays
    /// as it is: [`excerpt::tokens`](crate::excerpt::tokens) tells before.
    pub fn excerpt(
        &mut self,
        message: usize,
        part: usize,
        runs: impl IntoIterator<Item = Range<usize>>,
    ) -> &mut Self {
        let runs = runs.into_iter().map(|run| Run {
            start: number(run.start),
            end: number(run.end),
        });
        self.edits.insert(
            (number(message), number(part)),
            Change::Excerpt(runs.collect()),
        );
        self
    }

    /// Removes a part, which must be [removable](crate::PartTraits::REMOVABLE). Either all thinking of a
    /// unit is removed, or none.
    pub fn remove(&mut self, message: usize, part: usize) -> &mut Self {
        self.edits
            .insert((number(message), number(part)), Change::Remove);
        self
    }
}

/// Adds the kept units of `range` as spans, each as long as possible.
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

/// Converts an index to the 32 bits of the contract. No conversation has more units, messages or parts.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
