//! Checks a strategy's plan. A checked plan has another type (invariants I1, I4, I8).

use std::collections::HashMap;

use baler_provenance::without_headings;

use baler_conversation::marks::{self, By, Purpose};
use baler_conversation::message::{Content, Message, Part};
use baler_conversation::{Role, UnitKind};

use super::excerpt::{Excerptable, text_of};
use super::{
    Author, Change, Edit, Insertion, InsertionPurpose, Piece, Placement, Plan, Reason, Span,
};
use crate::fault::{Fault, PlanFault, PlanRule, Quantity};
use crate::limits::Limits;
use crate::situation::Situation;

/// A plan that obeys every rule of the contract. Only [`check`] makes one.
#[derive(Debug)]
pub(crate) struct CheckedPlan {
    pub(super) pieces: Vec<Checked>,
    /// Texts in their marks that join the message of an unprotected unit, by unit.
    pub(super) joins: HashMap<usize, Joins>,
    pub(crate) reasons: Vec<Reason>,
}

/// Texts in their marks that join a message at its start or its end.
#[derive(Debug, Default)]
pub(super) struct Joins {
    pub(super) start: Vec<String>,
    pub(super) end: Vec<String>,
}

/// A checked piece of a plan.
#[derive(Debug)]
pub(super) enum Checked {
    /// Keeps these units.
    Keep(std::ops::Range<usize>),
    Rewrite {
        unit: usize,
        edits: Vec<CheckedEdit>,
    },
    /// Inserts a text in its mark, as a separate message.
    Insert { role: Role, text: String },
}

/// An edit of a part that exists and may be edited.
#[derive(Debug)]
pub(super) struct CheckedEdit {
    pub(super) message: usize,
    pub(super) part: usize,
    /// The new text in its mark; `None` removes the part.
    pub(super) text: Option<String>,
}

/// Checks `plan`, which the strategy `author` made.
pub(crate) fn check(
    plan: Plan,
    author: Author<'_>,
    situation: &Situation,
    limits: &Limits,
) -> Result<CheckedPlan, Fault> {
    check_limits(&plan, limits)?;
    Checker {
        situation,
        author,
        next: 0,
        pieces: Vec::with_capacity(plan.pieces.len()),
        joins: HashMap::new(),
        waiting: Vec::new(),
        kept_before: None,
    }
    .run(plan)
    .map_err(Fault::InvalidPlan)
}

fn check_limits(plan: &Plan, limits: &Limits) -> Result<(), Fault> {
    let (mut edits, mut runs) = (0, 0);
    let mut bytes = 0usize;
    for piece in &plan.pieces {
        match piece {
            Piece::Keep(_) => {}
            Piece::Rewrite { edits: list, .. } => {
                edits += list.len();
                for edit in list {
                    match &edit.change {
                        Change::Text(text) => bytes = bytes.saturating_add(text.len()),
                        Change::Excerpt(own) => runs += own.len(),
                        Change::Remove => {}
                    }
                }
            }
            Piece::Insert(insertion) => bytes = bytes.saturating_add(insertion.text.len()),
        }
    }
    for (what, amount, limit) in [
        (Quantity::Pieces, plan.pieces.len(), limits.pieces),
        (Quantity::Edits, edits, limits.edits),
        (Quantity::Runs, runs, limits.runs),
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
    author: Author<'a>,
    /// The first unit that the next piece may name.
    next: usize,
    pieces: Vec<Checked>,
    joins: HashMap<usize, Joins>,
    /// Insertions that join the next kept message: piece, role, text.
    waiting: Vec<(usize, Role, String)>,
    /// The unit that a text can join at its end: the last one, if it is kept unedited and no other text
    /// follows it.
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
                    let edits = self.edits(index, unit, edits)?;
                    // A text can join only a message that is otherwise unchanged.
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
        self.check_removed_units(end, None)?;
        if self.pieces.is_empty() {
            return Err(broken(PlanRule::Empty));
        }
        self.check_reasons(&plan.reasons)?;
        Ok(CheckedPlan {
            pieces: self.pieces,
            joins: self.joins,
            reasons: plan.reasons,
        })
    }

    /// Checks a span of units, and returns it as a range.
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

    /// Continues at `units`: the units before them that no piece names are removed.
    fn advance(&mut self, piece: usize, units: std::ops::Range<usize>) -> Result<(), PlanFault> {
        self.check_removed_units(units.start, Some(piece))?;
        for (waiting, role, text) in std::mem::take(&mut self.waiting) {
            if !self.can_be_joined(units.start, role) {
                return Err(at(PlanRule::JoinsNothing, waiting));
            }
            if self.needs_separate_message(units.start) {
                self.pieces.push(Checked::Insert { role, text });
            } else {
                self.joins.entry(units.start).or_default().start.push(text);
            }
        }
        let stands_first = |message: &Message| message.stands_first;
        let first = self.situation.conversation.messages(units.start).first();
        if !self.pieces.is_empty() && units.start == 0 && first.is_some_and(stands_first) {
            return Err(PlanFault {
                unit: Some(0),
                ..at(PlanRule::PrecedesFirst, piece)
            });
        }
        self.next = units.end;
        Ok(())
    }

    /// Checks that no unit from `next` to `until` is protected.
    fn check_removed_units(&self, until: usize, piece: Option<usize>) -> Result<(), PlanFault> {
        match (self.next..until).find(|unit| self.situation.is_protected(*unit)) {
            Some(unit) => Err(PlanFault {
                piece,
                unit: Some(unit),
                ..broken(PlanRule::DropsProtected)
            }),
            None => Ok(()),
        }
    }

    /// Returns whether a text of this role can join a unit: a single user or instructions message that
    /// accepts further parts. Nothing joins a step, because text before its outputs would separate them from
    /// their calls.
    fn can_be_joined(&self, unit: usize, role: Role) -> bool {
        let conversation = &self.situation.conversation;
        let kind = conversation.units().get(unit).map(|unit| unit.kind);
        matches!(kind, Some(UnitKind::User | UnitKind::Instructions))
            && matches!(conversation.messages(unit), [message]
                if message.role == role && message.content.is_some() && message.outputs().next().is_none())
    }

    /// Returns whether a text that should join a unit becomes a separate message next to it, because the unit
    /// is protected. In a protected unit the text could never be removed: each later floor would count it,
    /// and a strategy could use up the whole budget with it.
    fn needs_separate_message(&self, unit: usize) -> bool {
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
        // A digest reads the headings of sealed texts, and attributes the text below some of them to the
        // user. So only strategies that write digests may use these headings.
        let text = match self.author.writes_digests {
            true => text,
            false => without_headings(&text),
        };
        let purpose = match purpose {
            InsertionPurpose::Summary => Purpose::Summary,
            InsertionPurpose::Note => Purpose::Note,
        };
        let site = role.site().ok_or(PlanRule::RoleNotAllowed)?;
        let by = By::Strategy(self.author.name);
        let tool = conversation.retrieval_tool(purpose);
        let text = marks::wrap_with_tool(conversation.key(), purpose, site, by, tool, &text);
        match placement {
            Placement::Alone => {
                // A further text that joins the unit before this one would be out of order.
                self.kept_before = None;
                self.pieces.push(Checked::Insert { role, text });
            }
            Placement::JoinAfter => self.waiting.push((piece, role, text)),
            Placement::JoinBefore => {
                let unit = self
                    .kept_before
                    .filter(|unit| self.can_be_joined(*unit, role))
                    .ok_or(PlanRule::JoinsNothing)?;
                if self.needs_separate_message(unit) {
                    self.pieces.push(Checked::Insert { role, text });
                } else {
                    self.joins.entry(unit).or_default().end.push(text);
                }
            }
        }
        Ok(())
    }

    /// Checks the edits of a unit, which `piece` names.
    fn edits(
        &self,
        piece: usize,
        unit: usize,
        edits: Vec<Edit>,
    ) -> Result<Vec<CheckedEdit>, PlanFault> {
        let fault = |rule| PlanFault {
            unit: Some(unit),
            ..at(rule, piece)
        };
        let mut last = None;
        // Number of parts of each message that may still be removed: one of its content must stay.
        let mut removable: HashMap<usize, usize> = HashMap::new();
        let mut checked = Vec::with_capacity(edits.len());
        for Edit {
            message,
            part,
            change,
        } in edits
        {
            let place = (message as usize, part as usize);
            let is_in_order = last.is_none_or(|last| last < place);
            last = Some(place);
            let edit = match is_in_order {
                true => self.edit(unit, place, change, &mut removable),
                false => Err(PlanRule::EditOutOfOrder),
            };
            let edit = edit.map_err(|rule| PlanFault {
                message: Some(place.0),
                part: Some(place.1),
                ..fault(rule)
            })?;
            checked.extend(edit);
        }
        self.check_thinking(unit, &checked).map_err(fault)?;
        Ok(checked)
    }

    /// Checks an edit; `None` if it changes nothing. `removable` are the numbers of parts of each message that
    /// may still be removed, as far as they are known.
    fn edit(
        &self,
        unit: usize,
        place: (usize, usize),
        change: Change,
        removable: &mut HashMap<usize, usize>,
    ) -> Result<Option<CheckedEdit>, PlanRule> {
        let messages = self.situation.conversation.messages(unit);
        let (message, part) = messages
            .get(place.0)
            .and_then(|message| Some((message, message.parts.get(place.1)?)))
            .ok_or(PlanRule::EditOutOfRange)?;
        let text = match change {
            Change::Text(text) => Some(self.new_text(unit, place, &text)?),
            Change::Excerpt(runs) => match self.excerpt(unit, place, &runs)? {
                Some(text) => Some(text),
                None => return Ok(None),
            },
            Change::Remove => {
                let left = removable
                    .entry(place.0)
                    .or_insert_with(|| parts_of_content(message).saturating_sub(1));
                self.check_removal(unit, message, part, *left)?;
                *left -= 1;
                None
            }
        };
        Ok(Some(CheckedEdit {
            message: place.0,
            part: place.1,
            text,
        }))
    }

    /// Checks that either all thinking of a unit is removed or none.
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

    /// Returns the text of an excerpt in its mark; `None` if it would not cost fewer tokens than the whole text,
    /// which then stays. A strategy cannot know what the host's lines cost.
    fn excerpt(
        &self,
        unit: usize,
        place: (usize, usize),
        runs: &[std::ops::Range<u32>],
    ) -> Result<Option<String>, PlanRule> {
        if !is_excerptable(self.situation, unit, place) {
            return Err(PlanRule::EditNotAllowed);
        }
        let conversation = &self.situation.conversation;
        let (message, part) = conversation
            .messages(unit)
            .get(place.0)
            .and_then(|message| Some((message, message.parts.get(place.1)?)))
            .ok_or(PlanRule::EditOutOfRange)?;
        let site = message.site(part).ok_or(PlanRule::EditNotAllowed)?;
        let (text, earlier) =
            text_of(conversation, message, part).ok_or(PlanRule::EditNotAllowed)?;
        let excerpt = Excerptable::of(self.situation, unit, &text, earlier).excerpt(runs)?;
        let marked = marks::wrap(
            conversation.key(),
            Purpose::Excerpt,
            site,
            By::Host,
            &excerpt,
        );
        Ok(self.is_smaller(unit, place, &marked).then_some(marked))
    }

    /// Checks the new text of a part, and returns it in its mark.
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
        let by = By::Strategy(self.author.name);
        let marked = marks::wrap(conversation.key(), Purpose::Rewritten, site, by, text);
        match self.is_smaller(unit, place, &marked) {
            true => Ok(marked),
            false => Err(PlanRule::EditGrows),
        }
    }

    /// Returns whether a new text, in its mark, costs fewer tokens than the text that it replaces.
    fn is_smaller(&self, unit: usize, place: (usize, usize), marked: &str) -> bool {
        let conversation = &self.situation.conversation;
        conversation.tokenizer().count(marked) < conversation.text_tokens(unit, place)
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
            Err(broken(PlanRule::ReasonOutOfRange))
        }
    }
}

/// Returns the number of blocks of thinking that `edits` remove from these messages.
pub(super) fn thinking_removed<'a>(
    messages: &[Message],
    edits: impl IntoIterator<Item = &'a CheckedEdit>,
) -> usize {
    let removed = edits.into_iter().filter(|edit| edit.text.is_none());
    let contents = removed.map(|edit| &messages[edit.message].parts[edit.part].content);
    contents.filter(|content| content.is_thinking()).count()
}

/// Whether a plan may replace the text of a part, given by message and part of its unit: the policy lets it,
/// the caller did not say that the unit stays, and if the part is an output, the model has seen it and it is no answer of the
/// user's.
pub(crate) fn is_rewritable(situation: &Situation, unit: usize, place: (usize, usize)) -> bool {
    let policy = &situation.request.policy;
    is_editable(
        situation,
        unit,
        place,
        policy.rewrite_outputs,
        policy.rewrite_assistant,
    )
}

/// Whether a plan may keep an excerpt of a part, given by message and part of its unit. The assistant's text
/// needs the same right as for other words: a model repeats the form of its own messages.
pub(crate) fn is_excerptable(situation: &Situation, unit: usize, place: (usize, usize)) -> bool {
    let policy = &situation.request.policy;
    is_editable(
        situation,
        unit,
        place,
        policy.excerpts,
        policy.excerpts && policy.rewrite_assistant,
    )
}

fn is_editable(
    situation: &Situation,
    unit: usize,
    (message, part): (usize, usize),
    outputs: bool,
    assistant: bool,
) -> bool {
    let Some(own) = situation.conversation.messages(unit).get(message) else {
        return false;
    };
    let Some(part) = own.parts.get(part) else {
        return false;
    };
    if situation.stays_whole(unit) || own.opaque {
        return false;
    }
    match &part.content {
        Content::Output(output) => {
            outputs
                && output.has_replaceable_text()
                && !situation.is_unseen(unit, message)
                && !situation.stays_for_words(unit, own, part)
        }
        Content::Text(_) => assistant && own.role == Role::Assistant,
        _ => false,
    }
}

/// Returns whether a plan may remove `part` of a unit.
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

/// Returns the number of parts in the list of the message's content.
fn parts_of_content(message: &Message) -> usize {
    message.content.as_ref().map_or(0, |list| {
        message
            .parts
            .iter()
            .filter(|part| part.place.start >= list.start && part.place.end <= list.end)
            .count()
    })
}

/// A fault of the whole plan.
const fn broken(rule: PlanRule) -> PlanFault {
    PlanFault {
        rule,
        piece: None,
        unit: None,
        message: None,
        part: None,
    }
}

const fn at(rule: PlanRule, piece: usize) -> PlanFault {
    PlanFault {
        piece: Some(piece),
        ..broken(rule)
    }
}
