//! Changes the plan of the strategy behind, so that what it keeps shows no secret.

use std::collections::BTreeMap;

use baler_strategy::{
    Change, Content, Conversation, Edit, Failure, Part, PartTraits, Piece, Plan, PlanError, Reason,
    Rewrite, Shown, Situation, Span,
};

use crate::config::Config;
use crate::hidden::Hidden;
use crate::smaller::{excerpt_of, smaller_than};
use crate::text_of;

/// A changed plan.
#[derive(Debug)]
pub(crate) struct Revised {
    pub(crate) plan: Plan,
    /// Outputs that were redacted, units that were removed for a secret, and parts whose secrets stay.
    pub(crate) counts: [u64; 3],
}

/// Changes a plan whose strategy read `shown`.
pub(crate) fn revise(
    conversation: &Conversation<'_>,
    situation: &Situation,
    config: &Config,
    shown: &[Shown],
    plan: Plan,
) -> Result<Revised, Failure> {
    let mut reviser = Reviser {
        conversation,
        situation,
        config,
        shown,
        pieces: Vec::with_capacity(plan.pieces.len()),
        reasons: plan.reasons,
        counts: [0; 3],
    };
    for piece in plan.pieces {
        match piece {
            Piece::Keep(span) => reviser.keep(span),
            Piece::Rewrite(rewrite) => reviser.unit(rewrite.unit, rewrite.edits),
            Piece::Insert(insertion) => reviser.pieces.push(Piece::Insert(insertion)),
        }
    }
    let Reviser {
        pieces,
        reasons,
        counts,
        ..
    } = reviser;
    if pieces.is_empty() {
        return Err(PlanError::Empty.into());
    }
    Ok(Revised {
        plan: Plan { pieces, reasons },
        counts,
    })
}

struct Reviser<'a> {
    conversation: &'a Conversation<'a>,
    situation: &'a Situation,
    config: &'a Config,
    shown: &'a [Shown],
    pieces: Vec<Piece>,
    reasons: Vec<Reason>,
    counts: [u64; 3],
}

impl Reviser<'_> {
    /// Keeps these units, except for what has to change in them.
    fn keep(&mut self, span: Span) {
        let end = span.first.saturating_add(span.count);
        let mut next = span.first;
        while next < end {
            let from = self.shown.partition_point(|shown| shown.unit < next);
            let changed = self
                .shown
                .get(from)
                .map_or(end, |shown| shown.unit.min(end));
            if changed > next {
                self.pieces.push(Piece::Keep(Span {
                    first: next,
                    count: changed - next,
                }));
            }
            if changed < end {
                self.unit(changed, Vec::new());
            }
            next = changed.saturating_add(1);
        }
    }

    /// Keeps a unit with these edits of the strategy behind, and with those that hide its secrets. Removes the unit if
    /// a secret in an output cannot be hidden and the unit need not stay.
    fn unit(&mut self, unit: u32, edits: Vec<Edit>) {
        let from = self.shown.partition_point(|shown| shown.unit < unit);
        let behind = &self.shown[from..];
        let shown = &behind[..behind.partition_point(|shown| shown.unit == unit)];
        if shown.is_empty() {
            return self.pieces.push(Piece::Rewrite(Rewrite { unit, edits }));
        }
        let mut edits: BTreeMap<(u32, u32), Change> = edits
            .into_iter()
            .map(|edit| ((edit.message, edit.part), edit.change))
            .collect();
        let messages = self.conversation.messages(unit as usize);
        let units = self.conversation.units();
        let must_stay = units
            .get(unit as usize)
            .is_none_or(|own| own.is_protected());
        let (mut redacted, mut left) = (0, 0);
        for shown in shown {
            let place = (shown.message, shown.part);
            let part = messages
                .get(shown.message as usize)
                .and_then(|message| message.parts.get(shown.part as usize));
            let Some(part) = part else { continue };
            let own = edits.get(&place);
            if matches!(own, Some(Change::Text(_) | Change::Remove)) {
                // Written from what was shown, or gone.
                continue;
            }
            match self.hide(part, shown, own) {
                Some(change) => {
                    edits.insert(place, change);
                    redacted += 1;
                }
                None if matches!(part.content, Content::Output(_)) && !must_stay => {
                    self.reason(unit, "secret");
                    self.counts[1] += 1;
                    return;
                }
                None => {
                    if let Some(Change::Excerpt(runs)) = own {
                        let moved = text_of(part)
                            .and_then(|text| Hidden::of(text, self.config))
                            .map_or_else(Vec::new, |hidden| hidden.runs_of(runs));
                        match moved.is_empty() {
                            true => edits.remove(&place),
                            false => edits.insert(place, Change::Excerpt(moved)),
                        };
                    }
                    left += 1;
                }
            }
        }
        if redacted > 0 {
            self.reason(unit, "redacted");
        }
        self.counts[0] += redacted;
        self.counts[2] += left;
        if edits.is_empty() {
            return self.pieces.push(Piece::Keep(Span {
                first: unit,
                count: 1,
            }));
        }
        let edits = edits.into_iter().map(|((message, part), change)| Edit {
            message,
            part,
            change,
        });
        self.pieces.push(Piece::Rewrite(Rewrite {
            unit,
            edits: edits.collect(),
        }));
    }

    /// Returns the text that is written in place of a part's, if a plan may write one.
    fn hide(&self, part: &Part, shown: &Shown, own: Option<&Change>) -> Option<Change> {
        if !part.traits.contains(PartTraits::REWRITABLE) {
            return None;
        }
        let text = match own {
            Some(Change::Excerpt(runs)) => excerpt_of(&shown.text, runs),
            _ => shown.text.clone(),
        };
        // Pictures in an output are not part of its text.
        let tokens = self.conversation.count(text_of(part)?).min(part.tokens);
        smaller_than(tokens, text, self.conversation, self.situation).map(Change::Text)
    }

    fn reason(&mut self, unit: u32, code: &str) {
        self.reasons.push(Reason {
            units: Span {
                first: unit,
                count: 1,
            },
            code: code.to_owned(),
        });
    }
}
