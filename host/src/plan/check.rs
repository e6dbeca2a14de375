//! From a guest's plan to a checked plan, which is another type (invariants I1, I4, I8).

use std::collections::HashMap;

use baler_digest::without_headings;

use baler_conversation::marks::{self, By, Purpose};
use baler_conversation::message::{Content, Message, Part};
use baler_conversation::{Role, UnitKind};

use super::{
    Author, Change, Edit, Insertion, InsertionPurpose, Piece, Placement, Plan, Reason, Span,
};
use crate::fault::{Fault, PlanFault, PlanRule, Quantity};
use crate::limits::PlanLimits;
use crate::situation::Situation;

/// A plan that obeys every rule of the contract. Only [`check`] makes one.
#[derive(Debug)]
pub(crate) struct CheckedPlan {
    pub(super) pieces: Vec<Checked>,
    /// Texts, in their marks, that join the message of a unit that could leave: at its start, at its
    /// end.
    pub(super) joins: HashMap<usize, Joins>,
    pub(crate) reasons: Vec<Reason>,
}

#[derive(Debug, Default)]
pub(super) struct Joins {
    pub(super) start: Vec<String>,
    pub(super) end: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Checked {
    /// Units from, to (excluded).
    Keep(std::ops::Range<usize>),
    Rewrite {
        unit: usize,
        edits: Vec<CheckedEdit>,
    },
    /// A text in its mark, as a message of its own.
    Insert { role: Role, text: String },
}

/// An edit of a part that exists and may be edited.
#[derive(Debug)]
pub(super) struct CheckedEdit {
    pub(super) message: usize,
    pub(super) part: usize,
    /// The new text in its mark; none to leave the part out.
    pub(super) text: Option<String>,
}

/// Checks `plan`, which the strategy `by` made.
pub(crate) fn check(
    plan: Plan,
    by: Author<'_>,
    situation: &Situation,
    limits: PlanLimits,
) -> Result<CheckedPlan, Fault> {
    check_limits(&plan, limits)?;
    Checker {
        situation,
        by,
        next: 0,
        pieces: Vec::with_capacity(plan.pieces.len()),
        joins: HashMap::new(),
        waiting: Vec::new(),
        kept_before: None,
    }
    .run(plan)
    .map_err(Fault::InvalidPlan)
}

fn check_limits(plan: &Plan, limits: PlanLimits) -> Result<(), Fault> {
    let mut edits = 0;
    let mut bytes = 0usize;
    for piece in &plan.pieces {
        match piece {
            Piece::Keep(_) => {}
            Piece::Rewrite { edits: list, .. } => {
                edits += list.len();
                for edit in list {
                    if let Change::Text(text) = &edit.change {
                        bytes = bytes.saturating_add(text.len());
                    }
                }
            }
            Piece::Insert(insertion) => bytes = bytes.saturating_add(insertion.text.len()),
        }
    }
    for (what, amount, limit) in [
        (Quantity::Pieces, plan.pieces.len(), limits.pieces),
        (Quantity::Edits, edits, limits.edits),
        (Quantity::InsertedBytes, bytes, limits.inserted_bytes),
        (
            Quantity::Annotations,
            plan.reasons.len(),
            limits.annotations,
        ),
    ] {
        if amount > limit {
            return Err(Fault::OutputTooLarge {
                what,
                limit: limit as u64,
            });
        }
    }
    Ok(())
}

struct Checker<'a> {
    situation: &'a Situation,
    by: Author<'a>,
    /// The first unit that may still come.
    next: usize,
    pieces: Vec<Checked>,
    joins: HashMap<usize, Joins>,
    /// Insertions that join the message after them, which has yet to come: piece, role, text.
    waiting: Vec<(usize, Role, String)>,
    /// The unit that a text can join at its end: the newest one, kept as it is, with nothing behind it
    /// but what joins it.
    kept_before: Option<usize>,
}

impl Checker<'_> {
    fn run(mut self, plan: Plan) -> Result<CheckedPlan, PlanFault> {
        for (index, piece) in plan.pieces.into_iter().enumerate() {
            match piece {
                Piece::Keep(span) => {
                    let units = self.span(span).map_err(|rule| at(rule, index))?;
                    self.advance(index, units.clone())?;
                    self.kept_before = units.end.checked_sub(1);
                    self.pieces.push(Checked::Keep(units));
                }
                Piece::Rewrite { unit, edits } => {
                    let units = self
                        .span(Span {
                            first: unit,
                            count: 1,
                        })
                        .map_err(|rule| at(rule, index))?;
                    let unit = units.start;
                    self.advance(index, units)?;
                    let edits = self.edits(unit, edits).map_err(|rule| PlanFault {
                        rule,
                        piece: Some(index),
                        unit: Some(unit),
                    })?;
                    // What joins a message goes where its bytes stay as they are.
                    if !edits.is_empty() && self.joins.contains_key(&unit) {
                        return Err(at(PlanRule::JoinsNothing, index));
                    }
                    self.kept_before = edits.is_empty().then_some(unit);
                    self.pieces.push(Checked::Rewrite { unit, edits });
                }
                Piece::Insert(insertion) => {
                    self.insert(index, insertion)
                        .map_err(|rule| at(rule, index))?;
                }
            }
        }
        if let Some((piece, ..)) = self.waiting.first() {
            return Err(at(PlanRule::JoinsNothing, *piece));
        }
        let end = self.situation.units().len();
        self.check_dropped(end, None)?;
        if self.pieces.is_empty() {
            return Err(PlanFault {
                rule: PlanRule::Empty,
                piece: None,
                unit: None,
            });
        }
        self.check_reasons(&plan.reasons)?;
        Ok(CheckedPlan {
            pieces: self.pieces,
            joins: self.joins,
            reasons: plan.reasons,
        })
    }

    fn span(&self, span: Span) -> Result<std::ops::Range<usize>, PlanRule> {
        if span.count == 0 {
            return Err(PlanRule::EmptySpan);
        }
        let first = span.first as usize;
        let end = first.checked_add(span.count as usize);
        match end.filter(|end| *end <= self.situation.units().len()) {
            None => Err(PlanRule::OutOfRange),
            Some(_) if first < self.next => Err(PlanRule::OutOfOrder),
            Some(end) => Ok(first..end),
        }
    }

    /// Goes on to `units`, dropping all between.
    fn advance(&mut self, piece: usize, units: std::ops::Range<usize>) -> Result<(), PlanFault> {
        self.check_dropped(units.start, Some(piece))?;
        for (waiting, role, text) in std::mem::take(&mut self.waiting) {
            if !self.can_be_joined(units.start, role) {
                return Err(at(PlanRule::JoinsNothing, waiting));
            }
            if self.stands_beside(units.start) {
                self.pieces.push(Checked::Insert { role, text });
            } else {
                self.joins.entry(units.start).or_default().start.push(text);
            }
        }
        let stands_first = |message: &Message| message.stands_first;
        let first = self.situation.conversation.messages(units.start).first();
        if !self.pieces.is_empty() && units.start == 0 && first.is_some_and(stands_first) {
            return Err(PlanFault {
                rule: PlanRule::PrecedesFirst,
                piece: Some(piece),
                unit: Some(0),
            });
        }
        self.next = units.end;
        Ok(())
    }

    fn check_dropped(&self, until: usize, piece: Option<usize>) -> Result<(), PlanFault> {
        match (self.next..until).find(|unit| self.situation.is_protected(*unit)) {
            Some(unit) => Err(PlanFault {
                rule: PlanRule::DropsProtected,
                piece,
                unit: Some(unit),
            }),
            None => Ok(()),
        }
    }

    /// A message of one unit of the user's or of instructions, in which parts can be added. A
    /// step is left alone: text in front of its outputs would part them from their calls.
    fn can_be_joined(&self, unit: usize, role: Role) -> bool {
        let conversation = &self.situation.conversation;
        let kind = conversation.units().get(unit).map(|unit| unit.kind);
        matches!(kind, Some(UnitKind::User | UnitKind::Instructions))
            && matches!(conversation.messages(unit), [message]
                if message.role == role && message.content.is_some() && message.outputs().next().is_none())
    }

    /// Whether a text that is to join a unit becomes a message of its own beside it. In a unit that has
    /// to stay it would stay for good: nobody may change the user's message, so each later floor would
    /// count it, and a strategy could take the whole budget with it.
    fn stands_beside(&self, unit: usize) -> bool {
        self.situation.is_protected(unit)
    }

    fn insert(&mut self, piece: usize, insertion: Insertion) -> Result<(), PlanRule> {
        let Insertion {
            role,
            purpose,
            placement,
            text,
        } = insertion;
        let conversation = &self.situation.conversation;
        if !self.situation.request.policy.allows_role(role) || !conversation.format().has_role(role)
        {
            return Err(PlanRule::RoleNotAllowed);
        }
        if text.trim().is_empty() {
            return Err(PlanRule::EmptyInsertion);
        }
        // A digest that reads a text under our seal goes by its headings: under some of them stands what
        // the user said, and no other strategy may write there.
        let text = match self.by.writes_digests {
            true => text,
            false => without_headings(&text),
        };
        let purpose = match purpose {
            InsertionPurpose::Summary => Purpose::Summary,
            InsertionPurpose::Note => Purpose::Note,
        };
        let site = role.site().ok_or(PlanRule::RoleNotAllowed)?;
        let by = By::Strategy(self.by.name);
        let text = marks::wrap(conversation.key(), purpose, site, by, &text);
        match placement {
            Placement::Alone => {
                // A text that joined the unit in front of it would be out of order.
                self.kept_before = None;
                self.pieces.push(Checked::Insert { role, text });
            }
            Placement::JoinAfter => self.waiting.push((piece, role, text)),
            Placement::JoinBefore => {
                let unit = self
                    .kept_before
                    .filter(|unit| self.can_be_joined(*unit, role))
                    .ok_or(PlanRule::JoinsNothing)?;
                if self.stands_beside(unit) {
                    self.pieces.push(Checked::Insert { role, text });
                } else {
                    self.joins.entry(unit).or_default().end.push(text);
                }
            }
        }
        Ok(())
    }

    fn edits(&self, unit: usize, edits: Vec<Edit>) -> Result<Vec<CheckedEdit>, PlanRule> {
        let mut last = None;
        // Parts of each message that may still go: one of its content has to stay.
        let mut removable: HashMap<usize, usize> = HashMap::new();
        let edits: Vec<CheckedEdit> = edits
            .into_iter()
            .map(|edit| {
                let place = (edit.message as usize, edit.part as usize);
                if last.is_some_and(|last| place <= last) {
                    return Err(PlanRule::EditOutOfOrder);
                }
                last = Some(place);
                let messages = self.situation.conversation.messages(unit);
                let (message, part) = messages
                    .get(place.0)
                    .and_then(|message| Some((message, message.parts.get(place.1)?)))
                    .ok_or(PlanRule::EditOutOfRange)?;
                let text = match edit.change {
                    Change::Text(text) => Some(self.new_text(unit, place, &text)?),
                    Change::Remove => {
                        let left = removable
                            .entry(place.0)
                            .or_insert_with(|| parts_of_content(message).saturating_sub(1));
                        self.check_removal(unit, message, part, *left)?;
                        *left -= 1;
                        None
                    }
                };
                Ok(CheckedEdit {
                    message: place.0,
                    part: place.1,
                    text,
                })
            })
            .collect::<Result<_, _>>()?;
        self.check_thinking(unit, &edits)?;
        Ok(edits)
    }

    /// Thinking goes from a unit as a whole or not at all.
    fn check_thinking(&self, unit: usize, edits: &[CheckedEdit]) -> Result<(), PlanRule> {
        let messages = self.situation.conversation.messages(unit);
        let removed = thinking_removed(messages, edits);
        let all = || -> usize { messages.iter().map(|own| own.thinking().len()).sum() };
        if removed == 0 || removed == all() {
            Ok(())
        } else {
            Err(PlanRule::EditNotAllowed)
        }
    }

    fn new_text(&self, unit: usize, place: (usize, usize), text: &str) -> Result<String, PlanRule> {
        if !is_rewritable(self.situation, unit, place) {
            return Err(PlanRule::EditNotAllowed);
        }
        let conversation = &self.situation.conversation;
        let site = conversation
            .messages(unit)
            .get(place.0)
            .and_then(|message| message.site(message.parts.get(place.1)?))
            .ok_or(PlanRule::EditNotAllowed)?;
        let by = By::Strategy(self.by.name);
        let marked = marks::wrap(conversation.key(), Purpose::Rewritten, site, by, text);
        let before = conversation.text_tokens(unit, place);
        if conversation.tokenizer().count(&marked) < before {
            Ok(marked)
        } else {
            Err(PlanRule::EditGrows)
        }
    }

    fn check_removal(
        &self,
        unit: usize,
        message: &Message,
        part: &Part,
        left: usize,
    ) -> Result<(), PlanRule> {
        match &part.content {
            Content::Call(_) | Content::Output(_) => Err(PlanRule::EditRemovesCall),
            _ if left > 0 && is_removable(self.situation, unit, message, part) => Ok(()),
            _ => Err(PlanRule::EditNotAllowed),
        }
    }

    fn check_reasons(&self, reasons: &[Reason]) -> Result<(), PlanFault> {
        let end = self.situation.units().len();
        let in_range = |span: &Span| {
            (span.first as usize)
                .checked_add(span.count as usize)
                .is_some_and(|last| last <= end)
        };
        if reasons.iter().all(|reason| in_range(&reason.units)) {
            Ok(())
        } else {
            Err(PlanFault {
                rule: PlanRule::ReasonOutOfRange,
                piece: None,
                unit: None,
            })
        }
    }
}

/// Blocks of thinking that edits of these messages leave out.
pub(super) fn thinking_removed<'a>(
    messages: &[Message],
    edits: impl IntoIterator<Item = &'a CheckedEdit>,
) -> usize {
    let removed = edits.into_iter().filter(|edit| edit.text.is_none());
    let contents = removed.map(|edit| &messages[edit.message].parts[edit.part].content);
    contents.filter(|content| content.is_thinking()).count()
}

/// Whether a plan may replace the text of a part, given by message and part of its unit: the policy
/// lets it, the caller did not say that the unit stays, and where it is an output the model has seen it.
pub(crate) fn is_rewritable(
    situation: &Situation,
    unit: usize,
    (message, part): (usize, usize),
) -> bool {
    let policy = &situation.request.policy;
    let conversation = &situation.conversation;
    let Some(own) = conversation.messages(unit).get(message) else {
        return false;
    };
    if situation.stays_whole(unit) {
        return false;
    }
    match own.parts.get(part).map(|part| &part.content) {
        Some(Content::Output(output)) => {
            policy.rewrite_outputs
                && output.has_replaceable_text()
                && !own.opaque
                && !situation.is_unseen(unit, message)
        }
        Some(Content::Text(_)) => {
            policy.rewrite_assistant && own.role == Role::Assistant && !own.opaque
        }
        _ => false,
    }
}

/// Whether the policy lets a plan leave `part` of a unit out.
pub(crate) fn is_removable(
    situation: &Situation,
    unit: usize,
    message: &Message,
    part: &Part,
) -> bool {
    if situation.stays_whole(unit) {
        return false;
    }
    match &part.content {
        Content::Media(_) => situation.request.policy.remove_media && !message.opaque,
        content if content.is_thinking() => situation.may_remove_thinking(unit),
        _ => false,
    }
}

/// Parts that stand in the list of the message's content, of which one has to stay.
fn parts_of_content(message: &Message) -> usize {
    message.content.as_ref().map_or(0, |list| {
        message
            .parts
            .iter()
            .filter(|part| part.place.start >= list.start && part.place.end <= list.end)
            .count()
    })
}

const fn at(rule: PlanRule, piece: usize) -> PlanFault {
    PlanFault {
        rule,
        piece: Some(piece),
        unit: None,
    }
}
