//! The status of each unit under a request: which units are protected, and why.

use std::collections::HashSet;
use std::ops::Range;

use baler_conversation::message::{Content, Message, Part};
use baler_conversation::{Conversation, Role, Unit, UnitKind};

use crate::request::{Pins, Request};
use crate::{unseen, users_words};

/// Status of one unit under a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct UnitStatus {
    /// The request pins the unit.
    pub(crate) pinned: bool,
    /// The unit has a live message ([`Request::live_from`]).
    pub(crate) live: bool,
    /// The unit holds tool outputs that the model has not seen.
    pub(crate) unseen: bool,
    /// The unit is protected for the user's words in it alone, which fit their share of the budget.
    pub(crate) for_words: bool,
    /// The unit must not be removed, for one of these or another reason.
    pub(crate) protected: bool,
    /// The caller named the unit, as pinned or as live, or it holds an output that came late. It stays byte-identical,
    /// so that it can be found again by its bytes.
    pub(crate) whole: bool,
}

/// Returns the step by which the open tool loop begins with thinking, if the format requires that (ANTH-5).
///
/// The candidates are the newest step, which is mostly protected anyway, then the first step after a
/// provider's compaction, then the first step. A provider's compaction is protected, and a loop before it
/// becomes open again when its answer is removed; the chosen step must be the same then (invariant I3). A
/// message directly after outputs is merged with them (ANTH-2), so the loop continues after it. If no
/// candidate begins with thinking, a failed step after the loop is protected: it separates the loop from the
/// user message.
fn step_with_thinking(conversation: &Conversation) -> Option<usize> {
    if !conversation.envelope().wants_thinking() {
        return None;
    }
    let units = conversation.units();
    let calls = |index: usize| units[index].kind == UnitKind::Step && units[index].traits.calls;
    let is_answer = |index: usize| {
        let mut messages = conversation.messages(index).iter();
        units[index].kind == UnitKind::Step
            && messages.any(|message| conversation.is_answer(message))
    };
    // A step without an answer may be removed, so it does not end the loop.
    let open: Vec<usize> = (0..units.len())
        .rev()
        .take_while(|index| calls(*index) || !is_answer(*index))
        .collect();
    let mut steps = open.iter().copied().filter(|index| calls(*index));
    let newest = steps.next()?;
    let first = steps.next_back().unwrap_or(newest);
    let is_compacted = |index: usize| {
        let mut messages = conversation.messages(index).iter();
        messages.any(Message::has_compaction)
    };
    let first_after_compaction = open
        .iter()
        .copied()
        .take_while(|index| !is_compacted(*index))
        .filter(|index| calls(*index))
        .last()
        .unwrap_or(newest);
    let begins = |index: &usize| {
        let message = conversation.messages(*index).first();
        message.is_some_and(|message| message.begins_with_thinking())
    };
    let failed = |index: &usize| *index > newest && units[*index].kind == UnitKind::Step;
    [newest, first_after_compaction, first]
        .into_iter()
        .find(begins)
        .or_else(|| open.into_iter().rfind(failed))
}

/// Returns the unit of a recorded summary after which the user says nothing. Anybody can write its tags, so
/// it may be the user's task (decision 002); and if a program recorded it, nothing else holds the task.
fn last_recorded_summary(conversation: &Conversation) -> Option<usize> {
    let says = |message: &Message, part: &Part| match part.content {
        Content::Output(_) => false,
        _ => conversation
            .opened(message, part)
            .is_none_or(|opened| !opened.is_sealed || opened.is_excerpt()),
    };
    let last = conversation.all_messages().iter().rposition(|message| {
        message.role == Role::User && message.parts.iter().any(|part| says(message, part))
    })?;
    let unit = conversation.unit_of(last);
    (conversation.units()[unit].kind == UnitKind::Summary).then_some(unit)
}

/// Protects every unit of a model turn that has a protected unit. Some providers merge adjacent model
/// messages, and they are one unit while one of them has thinking (ANTH-2). If the thinking is removed, they
/// become several units, and a second compaction would find some that are not protected (invariant I3).
fn keep_turns_whole(conversation: &Conversation, protected: &mut [bool]) {
    if !conversation.format().alternates() {
        return;
    }
    // A provider's own compaction is no part of such a turn.
    let continues_turn = |unit: usize| {
        let before = conversation.messages(unit - 1).last();
        before.is_some_and(|before| before.role == Role::Assistant)
            && conversation.begins_with_model(unit)
            && conversation.units()[unit - 1].kind == UnitKind::Step
    };
    for unit in 1..protected.len() {
        protected[unit] |= protected[unit - 1] && continues_turn(unit);
    }
    for unit in (1..protected.len()).rev() {
        protected[unit - 1] |= protected[unit] && continues_turn(unit);
    }
}

/// Returns the status of each unit of `conversation` under `request`.
pub(crate) fn unit_statuses(conversation: &Conversation, request: &Request) -> Vec<UnitStatus> {
    let units = conversation.units();
    let unseen = unseen::units(conversation);
    let pinned = pinned_units(conversation, &request.pins);
    let late = conversation.late_results().into_iter();
    let late: HashSet<usize> = late
        .map(|message| units.partition_point(|unit| unit.end() <= message))
        .collect();
    let named = request.pins.named();
    let mut statuses: Vec<UnitStatus> = units
        .iter()
        .enumerate()
        .map(|(index, unit)| {
            let is_pinned = pinned.contains(&index);
            let is_live = request.live_from.is_some_and(|first| unit.end() > first);
            let is_late = late.contains(&index);
            UnitStatus {
                pinned: is_pinned,
                live: is_live,
                unseen: unseen.contains(&index) || is_late,
                for_words: false,
                protected: false,
                // Shortened, a late output would not be known as one any more.
                whole: is_live || named.contains(&index) || is_late,
            }
        })
        .collect();
    let protected = protected_units(conversation, request, &statuses, &unseen);
    for ((unit, status), is_protected) in units.iter().zip(&mut statuses).zip(protected) {
        status.protected = is_protected;
        // The newest words of the user may be a remark beside outputs.
        let is_remark = unit.kind == UnitKind::Step && unit.traits.user_text;
        status.for_words = is_protected && is_remark && !status.whole && !status.unseen;
    }
    statuses
}

/// Returns the indices of the pinned units.
fn pinned_units(conversation: &Conversation, pins: &Pins) -> HashSet<usize> {
    let named = pins.named().iter().copied();
    if matches!(pins, Pins::Only(_) | Pins::None) {
        return named.collect();
    }
    let is_user = |unit: &Unit| unit.kind == UnitKind::User;
    // A program may have written before the user said anything.
    let first =
        users_words::first(conversation).or_else(|| conversation.units().iter().position(is_user));
    named.chain(first).collect()
}

/// Returns for each unit whether it is protected, for whatever reason.
fn protected_units(
    conversation: &Conversation,
    request: &Request,
    statuses: &[UnitStatus],
    unseen: &Range<usize>,
) -> Vec<bool> {
    let units = conversation.units();
    let landmarks = landmarks(conversation, unseen);
    let paused = unseen::paused(conversation);
    let last_user_message = conversation
        .all_messages()
        .iter()
        .rposition(|message| message.role == Role::User);
    // Some instructions expire with the next user message.
    let is_in_force = |index: usize| {
        let mut messages = conversation.messages(index).iter();
        messages.any(|message| message.expires)
            && last_user_message.is_none_or(|last| units[index].end() > last)
    };
    let mut protected: Vec<bool> = units
        .iter()
        .zip(statuses)
        .enumerate()
        .map(|(index, (unit, status))| {
            status.pinned
                || status.live
                || status.unseen
                || paused.contains(&index)
                || unit.traits.pending
                || unit.traits.instructions
                || is_in_force(index)
                || landmarks.contains(&Some(index))
        })
        .collect();
    protect_companions(conversation, request, &mut protected);
    protected
}

/// Protects units that protected units need beside them.
fn protect_companions(conversation: &Conversation, request: &Request, protected: &mut [bool]) {
    if let Some(answer) = unseen::required_answer(conversation, protected) {
        protected[answer] = true;
    }
    let policy = &request.policy;
    if policy.drops_thinking(conversation.envelope().binding) {
        keep_turns_whole(conversation, protected);
    }
}

/// Protects `units` for the user's words in them.
pub(crate) fn protect_for_words(
    conversation: &Conversation,
    request: &Request,
    statuses: &mut [UnitStatus],
    units: &[usize],
) {
    for unit in units {
        statuses[*unit].for_words = true;
        statuses[*unit].protected = true;
    }
    let mut protected: Vec<bool> = statuses.iter().map(|status| status.protected).collect();
    protect_companions(conversation, request, &mut protected);
    for (status, is_protected) in statuses.iter_mut().zip(protected) {
        status.protected = is_protected;
    }
}

/// Returns single units without which the conversation would lose its task or break a rule.
fn landmarks(conversation: &Conversation, unseen: &Range<usize>) -> [Option<usize>; 8] {
    let units = conversation.units();
    // User text next to tool outputs (GEM-3) may only be a remark. The user message that it refers to is
    // protected too, and stays a turn of its own.
    let newest_user_unit = units.iter().rposition(|unit| unit.kind == UnitKind::User);
    // Without user text, the newest other unit is protected, so that the result is not empty.
    let newest_user_text = units
        .iter()
        .rposition(|unit| unit.traits.user_text)
        .or_else(|| {
            (0..units.len())
                .rev()
                .find(|unit| !units[*unit].traits.instructions && !conversation.is_movable(*unit))
        });
    // For the provider it replaces all earlier messages, and nothing else holds their content.
    let provider_summary = units.iter().rposition(|unit| unit.traits.provider_summary);
    // The newest reference may stand for a provider's summary, or for an output that the model has not seen.
    let newest_reference = conversation
        .all_messages()
        .iter()
        .rposition(Message::may_be_anything)
        .map(|message| conversation.unit_of(message))
        .filter(|unit| provider_summary < Some(*unit));
    [
        newest_user_unit,
        newest_user_text,
        // What a program wrote in the user's role may be newer.
        users_words::newest(conversation),
        last_recorded_summary(conversation),
        step_with_thinking(conversation),
        provider_summary,
        newest_reference,
        unseen::last_words(conversation, unseen),
    ]
}
