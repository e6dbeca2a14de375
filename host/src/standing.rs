//! Which units are protected, and why.

use std::collections::HashSet;

use baler_conversation::message::{Content, Message, Part};
use baler_conversation::{Conversation, Role, Unit, UnitKind};

use crate::request::{Pins, Request};
use crate::unseen;

/// Why a unit has to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct UnitStatus {
    pub(crate) pinned: bool,
    pub(crate) live: bool,
    /// Holds tool outputs that the model has not seen.
    pub(crate) unseen: bool,
    /// For any reason.
    pub(crate) protected: bool,
    /// The caller named it, as pinned or as live: then nothing in it changes, and whoever looks for it by
    /// its bytes finds it.
    pub(crate) whole: bool,
}

/// The step by which the open loop begins with thinking, where the request wants that (ANTH-5):
/// the newest one, which mostly stays anyway, or else the first behind a provider's compaction, or else
/// the first. A compaction stays by itself, and a loop in front of it is open again once its answer left:
/// the thinker has to be the same step then (invariant I3). What stands directly behind outputs is one
/// message with them (ANTH-2), and so the loop goes on behind it. Where no step of it begins so, what
/// failed behind it stays: that parts it from the user's words.
fn thinker(conversation: &Conversation) -> Option<usize> {
    if !conversation.envelope().wants_thinking() {
        return None;
    }
    let units = conversation.units();
    let calls = |index: usize| units[index].kind == UnitKind::Step && conversation.has_calls(index);
    let is_answer = |index: usize| {
        let mut messages = conversation.messages(index).iter();
        units[index].kind == UnitKind::Step && messages.any(|own| conversation.is_answer(own))
    };
    // What is no answer may go, and then parts no loop.
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
    let first_behind_compaction = open
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
    [newest, first_behind_compaction, first]
        .into_iter()
        .find(begins)
        .or_else(|| open.into_iter().rfind(failed))
}

/// The unit of a recorded summary behind which the user says nothing. Anybody can write its tags, so it may be
/// what the user asks for (decision 002); and where a program recorded it, the task stands nowhere else.
fn last_recorded(conversation: &Conversation) -> Option<usize> {
    let says = |message: &Message, part: &Part| match part.content {
        Content::Output(_) => false,
        _ => conversation
            .opened(message, part)
            .is_none_or(|opened| !opened.is_sealed),
    };
    let last = conversation.all_messages().iter().rposition(|message| {
        message.role == Role::User && message.parts.iter().any(|part| says(message, part))
    })?;
    let units = conversation.units();
    let unit = units.partition_point(|unit| unit.end() <= last);
    (units[unit].kind == UnitKind::Summary).then_some(unit)
}

/// Has all of a turn of the model's stay where some of it does. Neighbours are one message to some
/// providers, and one unit while one of them thinks (ANTH-2). Where that thinking goes they become
/// several, of which a second compaction would find some that need not stay (invariant I3).
fn keep_turns_whole(conversation: &Conversation, stays: &mut [bool]) {
    if !conversation.format().alternates() {
        return;
    }
    // What a provider's own compaction left stands for itself.
    let goes_on = |unit: usize| {
        let before = conversation.messages(unit - 1).last();
        before.is_some_and(|before| before.role == Role::Assistant)
            && conversation.begins_with_model(unit)
            && conversation.units()[unit - 1].kind == UnitKind::Step
    };
    for unit in 1..stays.len() {
        stays[unit] |= stays[unit - 1] && goes_on(unit);
    }
    for unit in (1..stays.len()).rev() {
        stays[unit - 1] |= stays[unit] && goes_on(unit);
    }
}

pub(crate) fn standing(conversation: &Conversation, request: &Request) -> Vec<UnitStatus> {
    let units = conversation.units();
    let first_user = units.iter().position(|unit| unit.kind == UnitKind::User);
    // What the user says beside outputs is a remark; the request that it is about stays too, and
    // its turn stays one of its own (GEM-3).
    let newest_message = units.iter().rposition(|unit| unit.kind == UnitKind::User);
    // A conversation where nobody asks anything must not become an empty one.
    let newest = units
        .iter()
        .rposition(|unit| unit.traits.user_text)
        .or_else(|| {
            (0..units.len())
                .rev()
                .find(|unit| !units[*unit].traits.instructions && !conversation.is_movable(*unit))
        });
    let last_recorded = last_recorded(conversation);
    // What holds until the user's next message.
    let last_of_user = conversation
        .all_messages()
        .iter()
        .rposition(|message| message.role == Role::User);
    let holds = |index: usize| {
        let mut messages = conversation.messages(index).iter();
        messages.any(|own| own.expires) && last_of_user.is_none_or(|last| units[index].end() > last)
    };
    let thinker = thinker(conversation);
    // The provider takes it for all that came before, and nothing else says what that was.
    let provider_summary = units.iter().rposition(|unit| unit.traits.provider_summary);
    // So may be what the newest reference stands for, or an output that the model has not seen.
    let referred = conversation
        .all_messages()
        .iter()
        .rposition(Message::may_be_anything)
        .map(|message| units.partition_point(|unit| unit.end() <= message))
        .filter(|unit| provider_summary < Some(*unit));
    let unseen = unseen::units(conversation);
    let paused = unseen::paused(conversation);
    let last_words = unseen::last_words(conversation, &unseen);
    let pinned: HashSet<usize> = match &request.pins {
        Pins::FirstUser => first_user.into_iter().collect(),
        Pins::Units(pinned) => pinned.iter().copied().collect(),
        Pins::None => HashSet::new(),
    };
    let is_named = matches!(request.pins, Pins::Units(_));
    let is_live = |unit: &Unit| request.live_from.is_some_and(|first| unit.end() > first);
    let mut stays: Vec<bool> = units
        .iter()
        .enumerate()
        .map(|(index, unit)| {
            pinned.contains(&index)
                || is_live(unit)
                || unseen.contains(&index)
                || paused.contains(&index)
                || last_words == Some(index)
                || unit.traits.pending
                || unit.traits.instructions
                || holds(index)
                || newest == Some(index)
                || newest_message == Some(index)
                || last_recorded == Some(index)
                || thinker == Some(index)
                || provider_summary == Some(index)
                || referred == Some(index)
        })
        .collect();
    if let Some(answer) = unseen::answer_that_stays(conversation, &stays) {
        stays[answer] = true;
    }
    if request
        .policy
        .drops_thinking(conversation.envelope().binding)
    {
        keep_turns_whole(conversation, &mut stays);
    }
    units
        .iter()
        .zip(stays)
        .enumerate()
        .map(|(index, (unit, stays))| UnitStatus {
            pinned: pinned.contains(&index),
            live: is_live(unit),
            unseen: unseen.contains(&index),
            protected: stays,
            whole: is_live(unit) || (is_named && pinned.contains(&index)),
        })
        .collect()
}
