//! One compaction to be done: the conversation, what must stay of it, and what to reach.

use std::collections::HashSet;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::archive;
use crate::conversation::message::{Content, Message, Part};
use crate::conversation::{Conversation, Role, Unit, UnitKind};
use crate::deadline::Deadline;
use crate::fault::Quantity;
use crate::formats::{Binding, Format};
use crate::models::Spending;
use crate::once::OncePerUnit;
use crate::trigger::CachePrice;
use crate::unseen::{self, Free, Unseen};

/// Why the host is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Trigger {
    /// A threshold of the embedding program's was crossed.
    #[default]
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
    /// A person or program asked, perhaps saying what to keep in mind.
    Manual(Option<String>),
    /// A schedule said so.
    Scheduled,
}

impl Trigger {
    /// The name in receipts and in the contract.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Overflow => "overflow",
            Self::Manual(_) => "manual",
            Self::Scheduled => "scheduled",
        }
    }
}

/// Tokens that a share of a conversation leaves beside what has to stay. A first prompt or a newest
/// message may take more than any share.
const LEAST_BESIDE: u32 = 500;

/// How large the result may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// This many tokens, overhead included.
    Tokens(u32),
    /// The overhead, and this share (from 0 to 1) of the tokens of all other units; but no less than
    /// what has to stay and 500 tokens (or half of all else, where that is less), so that something can
    /// stand for what leaves.
    Share(f64),
}

/// What the embedding program wants to stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pins {
    /// The first message of the user's, which is often the task.
    FirstUser,
    /// The units with these indices.
    Units(Vec<usize>),
    /// Nothing beside what always stays.
    None,
}

/// What a plan may do beside keeping and dropping units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Policy {
    /// Rewrite tool outputs.
    pub rewrite_outputs: bool,
    /// Rewrite the assistant's text.
    pub rewrite_assistant: bool,
    /// Leave pictures and the like out of messages that stay.
    pub remove_media: bool,
    /// Give inserted text the developer or system role where the format has it.
    pub summary_role: SummaryRole,
    /// What becomes of thinking that stays behind something that changed.
    pub thinking: ThinkingPolicy,
}

/// What becomes of thinking in messages that stay behind a change. Newer models of Anthropic's
/// refuse a request with thinking that was made behind other messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThinkingPolicy {
    /// It goes where the model that the request names would refuse it. Else strategies may leave
    /// out that of finished turns.
    #[default]
    Auto,
    /// It stays.
    Keep,
    /// It goes, where it is a part of the content and the provider lets it.
    Drop,
}

/// The highest role that inserted text may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryRole {
    /// Only the user's.
    #[default]
    User,
    /// The developer's too.
    Developer,
    /// The system's too.
    System,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            rewrite_outputs: true,
            rewrite_assistant: false,
            remove_media: false,
            summary_role: SummaryRole::User,
            thinking: ThinkingPolicy::Auto,
        }
    }
}

impl Policy {
    pub(crate) fn allows_role(&self, role: Role) -> bool {
        match role {
            Role::User => true,
            Role::Developer => self.summary_role != SummaryRole::User,
            Role::System => self.summary_role == SummaryRole::System,
            Role::Assistant | Role::Tool => false,
        }
    }

    /// Whether thinking goes from what stays behind a change, where its provider binds it so.
    pub(crate) fn drops_thinking(&self, binding: Binding) -> bool {
        match self.thinking {
            ThinkingPolicy::Keep => false,
            ThinkingPolicy::Drop => true,
            ThinkingPolicy::Auto => binding == Binding::Refuses,
        }
    }
}

/// What is wanted of a compaction. The defaults are those of the command line.
#[derive(Debug, Clone)]
pub struct Request {
    /// Why.
    pub trigger: Trigger,
    /// How large the result may be. Default: half.
    pub budget: Budget,
    /// What stays. Default: the first user message.
    pub pins: Pins,
    /// Index of the first message that is live: it and all after it came after the state that
    /// is to be compacted, and stay.
    pub live_from: Option<usize>,
    /// The model's context window in tokens; 0 where it is not known.
    pub context_window: u32,
    /// Leading units that the provider is believed to hold in its cache. None: as far as the
    /// conversation knows what was sent ([`Conversation::mark_sent`]).
    pub cached_units: Option<u32>,
    /// What the provider's cache is worth. With it the host's own trigger waits as long as
    /// compacting would cost more than it saves, reckoned with half of what there is now (less
    /// where the budget is lower); without it the cache does not count.
    pub cache_price: Option<CachePrice>,
    /// The most bytes that the result may have. Default: what the provider takes.
    pub max_bytes: Option<usize>,
    /// The most pictures, documents and the like that the result may have. Default: what the
    /// provider takes.
    pub max_media: Option<u32>,
    /// JSON for the strategy: turns left, memory, data …
    pub context: String,
    /// `unchanged` is no answer: the host goes on to the next strategy of the chain.
    pub required: bool,
    /// Failures that strategies declared in a row before this call, for this conversation: the
    /// receipt of the call before says how many.
    pub failures_in_a_row: u32,
    /// What plans may do.
    pub policy: Policy,
    /// When the compaction has to end. Default: never; each strategy has limits of its own. Where it
    /// is not done by then the conversation stays as it is.
    pub deadline: Option<Deadline>,
    /// Whether the receipt holds what strategies say in words. Default: no.
    pub words_in_receipt: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            trigger: Trigger::default(),
            budget: Budget::Share(0.5),
            pins: Pins::FirstUser,
            live_from: None,
            context_window: 0,
            cached_units: None,
            cache_price: None,
            max_bytes: None,
            max_media: None,
            context: String::new(),
            required: false,
            failures_in_a_row: 0,
            policy: Policy::default(),
            deadline: None,
            words_in_receipt: false,
        }
    }
}

impl Request {
    /// The most bytes and media that a result in this format may have.
    pub(crate) fn limits(&self, format: Format) -> (usize, u32) {
        let limits = format.limits();
        (
            self.max_bytes.unwrap_or(limits.body_bytes),
            self.max_media.unwrap_or(limits.pictures),
        )
    }
}

/// A request for one conversation, worked out.
#[derive(Debug)]
pub(crate) struct Situation {
    pub(crate) conversation: Conversation,
    pub(crate) request: Request,
    /// What is known of each unit in this situation.
    pub(crate) standing: Vec<Standing>,
    /// Tokens that the result should fit in.
    pub(crate) budget: u32,
    /// Tokens of the smallest result that there can be, each shortened output counted as its cap.
    pub(crate) floor: u32,
    /// The same in bytes.
    pub(crate) floor_bytes: usize,
    /// The most bytes that the result may have.
    pub(crate) max_bytes: usize,
    /// The most pictures, documents and the like that the result may have.
    pub(crate) max_media: u32,
    /// What cannot be reached, since what must stay is larger.
    pub(crate) below_floor: Vec<Quantity>,
    /// Tokens that a mark and a message add to an inserted text.
    pub(crate) insertion_overhead: u32,
    /// Tokens of the host's own note where a result may not begin with a step; else 0.
    pub(crate) opening_note: u32,
    /// The first unit that does not belong to a finished turn, once somebody asked.
    unfinished: OnceLock<usize>,
    /// Whether a plan may leave out the thinking of each unit, once somebody asked.
    loses_thinking: OncePerUnit<bool>,
    references: OncePerUnit<Option<String>>,
    /// Whether what leaves can be had back, so that references mean something.
    pub(crate) archived: bool,
    /// What was asked of models so far.
    pub(crate) spending: Spending,
    /// Number of messages up to the model's last one.
    answered: usize,
    /// The outputs that the model has not seen, and how far they are shortened.
    pub(crate) unseen: Unseen,
}

/// Why a unit has to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Standing {
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

impl Situation {
    pub(crate) fn new(conversation: &Conversation, request: &Request, archived: bool) -> Self {
        let standing = standing(conversation, request);
        let unseen = Unseen::of(conversation, &request.policy, &standing);
        let marks = conversation.mark_tokens();
        let budget = conversation.tokens_of(request.budget);
        let (max_bytes, max_media) = request.limits(conversation.format());
        let mut situation = Self {
            max_bytes,
            max_media,
            below_floor: Vec::new(),
            insertion_overhead: marks.insertion,
            conversation: conversation.clone(),
            request: request.clone(),
            standing,
            budget,
            floor: 0,
            floor_bytes: 0,
            opening_note: marks.opening_note,
            unfinished: OnceLock::new(),
            loses_thinking: OncePerUnit::new(conversation.units().len()),
            references: OncePerUnit::new(conversation.units().len()),
            archived,
            spending: Spending::default(),
            answered: conversation.answered(),
            unseen,
        };
        situation.find_floor();
        situation.share_with_unseen();
        situation
    }

    /// What remains where nothing but what must stay does, in its shortest form.
    fn find_floor(&mut self) {
        let protected: Vec<bool> = self.protected().collect();
        self.floor = self.tokens_under(unseen::LEAST_TOKENS, &protected, None);
        if let Budget::Share(_) = self.request.budget {
            self.budget = self.budget.max(self.least());
        }
        let media = self.sum_of_protected(|_, unit| unit.media as usize);
        let bytes = around_units(&self.conversation)
            + self.sum_of_protected(|index, unit| {
                unit.bytes - self.unseen.saved(index, unseen::LEAST_TOKENS).1
            });
        self.floor_bytes = bytes;
        let is_below = [
            (Quantity::Tokens, self.budget < self.floor),
            (Quantity::Bytes, self.max_bytes < bytes),
            (Quantity::Media, (self.max_media as usize) < media),
        ];
        self.below_floor = is_below
            .into_iter()
            .filter_map(|(what, is_below)| is_below.then_some(what))
            .collect();
    }

    /// Tokens of what has to stay, and of something that can stand for what leaves.
    pub(crate) fn least(&self) -> u32 {
        let others = self.conversation.tokens().saturating_sub(self.floor);
        self.floor.saturating_add(LEAST_BESIDE.min(others / 2))
    }

    /// Shortens unseen outputs where they and what else must stay do not fit, or leave next to nothing
    /// for other units and what stands for them: as little as that takes.
    fn share_with_unseen(&mut self) {
        if self.unseen.outputs().is_empty() {
            return;
        }
        let protected: Vec<bool> = self.protected().collect();
        let all = self.tokens_of_units(&protected, None);
        let bytes = around_units(&self.conversation) + self.sum_of_protected(|_, unit| unit.bytes);
        let target = self.target();
        if self.conversation.tokens() <= target && bytes <= self.max_bytes {
            return;
        }
        let others = self.conversation.tokens().saturating_sub(all);
        let free = target - self.floor;
        let fit = all <= target && bytes <= self.max_bytes;
        let free = free.saturating_sub(unseen::share_of_others(free, others, fit));
        let shortest = self.unseen.tokens_at(unseen::LEAST_TOKENS);
        let bytes_beside = bytes.saturating_sub(to_usize(self.unseen.bytes_at(u32::MAX)));
        let cap = self.unseen.cap_for(Free {
            tokens: shortest + u64::from(free),
            bytes: self.max_bytes.saturating_sub(bytes_beside) as u64,
        });
        self.unseen.set_cap(cap);
    }

    fn sum_of_protected(&self, size: impl Fn(usize, &Unit) -> usize) -> usize {
        let units = self.units().iter().enumerate().zip(&self.standing);
        units
            .filter(|(_, standing)| standing.protected)
            .map(|((index, unit), _)| size(index, unit))
            .sum()
    }

    /// Tokens that a unit costs as the host will write it: less than it has where unseen outputs in
    /// it are shortened.
    pub(crate) fn tokens_of(&self, unit: usize) -> u32 {
        self.tokens_at(self.unseen.cap(), unit)
    }

    /// The same of its shortest legal form.
    pub(crate) fn shortest_tokens_of(&self, unit: usize) -> u32 {
        self.tokens_at(unseen::LEAST_TOKENS, unit)
    }

    /// The same in bytes of the wire format.
    pub(crate) fn bytes_of(&self, unit: usize) -> usize {
        let saved = self.unseen.saved(unit, self.unseen.cap()).1;
        self.units()
            .get(unit)
            .map_or(0, |own| own.bytes.saturating_sub(saved))
    }

    fn tokens_at(&self, cap: u32, unit: usize) -> u32 {
        let saved = self.unseen.saved(unit, cap).0;
        self.units()
            .get(unit)
            .map_or(0, |own| own.tokens.saturating_sub(saved))
    }

    /// Whether the conversation as a whole fits once its unseen outputs are shortened.
    pub(crate) fn fits_shortened(&self) -> bool {
        let bytes: usize = (0..self.units().len())
            .map(|unit| self.bytes_of(unit))
            .sum();
        self.unseen.is_shortened()
            && !self.are_too_many(&vec![true; self.units().len()])
            && bytes <= self.max_bytes_of_units()
            && self.conversation.media() <= self.max_media
    }

    /// The reference under which a unit will be in the archive, if there is one.
    pub(crate) fn reference(&self, unit: usize) -> Option<String> {
        if !self.archived {
            return None;
        }
        // It is asked for each output of a unit, and is of all of the unit.
        let reference = || archive::reference(&self.conversation, unit);
        self.references.get(unit, reference).cloned().flatten()
    }

    /// Whether the compaction has to end.
    pub(crate) fn is_over(&self) -> bool {
        self.request
            .deadline
            .as_ref()
            .is_some_and(Deadline::is_over)
    }

    pub(crate) fn units(&self) -> &[Unit] {
        self.conversation.units()
    }

    /// Whether a plan may leave the thinking of a unit out. Providers want that of the turn that
    /// goes on, and models that bind thinking to what came before it take no gap in it.
    pub(crate) fn may_lose_thinking(&self, unit: usize) -> bool {
        self.loses_thinking
            .get(unit, || self.find_whether_it_may_lose_thinking(unit))
            .is_some_and(|may| *may)
    }

    fn find_whether_it_may_lose_thinking(&self, unit: usize) -> bool {
        let is_allowed = match self.request.policy.thinking {
            ThinkingPolicy::Keep => false,
            ThinkingPolicy::Auto | ThinkingPolicy::Drop => true,
        };
        is_allowed
            && !self.is_protected(unit)
            && self.conversation.envelope().binding == Binding::No
            && unit
                < *self
                    .unfinished
                    .get_or_init(|| unfinished(&self.conversation))
            && self
                .conversation
                .messages(unit)
                .iter()
                .all(|message| message.thinking().is_empty() || message.can_lose_thinking())
    }

    /// Whether what a message of a unit answers has not been seen by the model.
    pub(crate) fn is_unseen(&self, unit: usize, message: usize) -> bool {
        let unit = self
            .standing
            .get(unit)
            .filter(|own| own.unseen)
            .and(self.units().get(unit));
        unit.is_some_and(|unit| unit.first_message + message >= self.answered)
    }

    pub(crate) fn is_protected(&self, unit: usize) -> bool {
        self.standing
            .get(unit)
            .is_some_and(|standing| standing.protected)
    }

    /// Whether the caller named a unit as one that stays as it is.
    pub(crate) fn stays_whole(&self, unit: usize) -> bool {
        self.standing
            .get(unit)
            .is_some_and(|standing| standing.whole)
    }

    /// Whether each unit has to stay.
    pub(crate) fn protected(&self) -> impl Iterator<Item = bool> {
        self.standing.iter().map(|standing| standing.protected)
    }

    /// The most bytes that the units of the result may have.
    pub(crate) fn max_bytes_of_units(&self) -> usize {
        self.max_bytes
            .saturating_sub(around_units(&self.conversation))
    }

    /// What has to be reached: the budget, or the floor where the budget is below that.
    pub(crate) fn target(&self) -> u32 {
        self.budget.max(self.floor)
    }

    /// Tokens that are left beside these units and the host's own notes between them.
    pub(crate) fn left_beside(&self, kept: &[bool]) -> u32 {
        self.target()
            .saturating_sub(self.tokens_of_units(kept, None))
    }

    /// Tokens that are left beside these units and the host's own notes between them, for a text
    /// in the place of the first unit that is not kept; none where they are too many by
    /// themselves.
    pub(crate) fn left_for_text(&self, kept: &[bool]) -> Option<u32> {
        let text = kept.iter().position(|kept| !kept);
        self.target().checked_sub(self.tokens_of_units(kept, text))
    }

    /// Whether these units and the host's own notes between them have more tokens than they may.
    pub(crate) fn are_too_many(&self, kept: &[bool]) -> bool {
        self.tokens_of_units(kept, None) > self.target()
    }

    /// Tokens of these units, of what stands beside the messages, and of the host's own notes,
    /// which [`notes`] counts.
    fn tokens_of_units(&self, kept: &[bool], text: Option<usize>) -> u32 {
        self.tokens_under(self.unseen.cap(), kept, text)
    }

    fn tokens_under(&self, cap: u32, kept: &[bool], text: Option<usize>) -> u32 {
        let conversation = &self.conversation;
        let notes = notes(conversation, kept, text);
        let units = conversation.units().iter().zip(kept).enumerate();
        units
            .filter(|(_, (unit, kept))| **kept && unit.kind != UnitKind::Instructions)
            .fold(conversation.overhead(), |sum, (index, _)| {
                sum.saturating_add(self.tokens_at(cap, index))
            })
            .saturating_add(notes.saturating_mul(conversation.mark_tokens().opening_note))
    }
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The first unit behind the newest answer that ended a turn: one without calls, with words of the
/// user's behind it.
fn unfinished(conversation: &Conversation) -> usize {
    let units = conversation.units();
    let is_answer =
        |unit: usize| units[unit].kind == UnitKind::Step && !conversation.has_calls(unit);
    (1..units.len())
        .rev()
        .find(|unit| units[*unit].kind == UnitKind::User && is_answer(*unit - 1))
        .unwrap_or(0)
}

/// Bytes of a document beside its units.
fn around_units(conversation: &Conversation) -> usize {
    let units: usize = conversation.units().iter().map(|unit| unit.bytes).sum();
    conversation.bytes().saturating_sub(units)
}

/// How many notes of the host's own a result of these units would need. Where a text stands, in
/// front of the unit `text`, which is left out, none is needed.
fn notes(conversation: &Conversation, kept: &[bool], text: Option<usize>) -> u32 {
    let mut before = None;
    // Instructions that are written in front of what the model says next.
    let mut has_waiting = false;
    let mut notes = 0;
    for (unit, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
        if conversation.is_movable(unit) {
            has_waiting = true;
            continue;
        }
        let is_behind_text =
            text.is_some_and(|text| text < unit && before.is_none_or(|before| before < text));
        notes += u32::from(!is_behind_text && conversation.needs_note(before, unit, has_waiting));
        has_waiting &= !conversation.begins_with_model(unit);
        before = Some(unit);
    }
    let ends_with_text = text.is_some_and(|text| before.is_none_or(|before| before < text));
    let has_place = before.is_some_and(|before| conversation.takes_instructions_behind(before));
    notes + u32::from(has_waiting && !ends_with_text && !has_place)
}

impl Conversation {
    /// Tokens that a budget means here.
    pub(crate) fn tokens_of(&self, budget: Budget) -> u32 {
        match budget {
            Budget::Tokens(tokens) => tokens,
            Budget::Share(share) => {
                let overhead = self.overhead();
                let rest = f64::from(self.tokens().saturating_sub(overhead));
                // Rounded down, so that a share never gives more than it says; casts saturate.
                overhead.saturating_add((rest * share) as u32)
            }
        }
    }
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
    if !conversation.format().wire().alternates() {
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

fn standing(conversation: &Conversation, request: &Request) -> Vec<Standing> {
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
        .map(|(index, (unit, stays))| Standing {
            pinned: pinned.contains(&index),
            live: is_live(unit),
            unseen: unseen.contains(&index),
            protected: stays,
            whole: is_live(unit) || (is_named && pinned.contains(&index)),
        })
        .collect()
}
