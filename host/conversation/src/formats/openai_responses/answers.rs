//! Which call an output answers, and which request for approval an approval.
//!
//! An id comes again in later responses, and some servers give none. So what names an id answers the
//! nearest item of that id that waits, of its kind if there is one; and an output without an id the first
//! call of its response that waits and is of its kind.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use super::units::{answered, asks, is_of_others, is_reference};
use crate::model::message::Message;
use crate::model::pairing::ByKind;

/// What an item answers, each with the index of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    To(usize),
    /// It is of another kind.
    OtherKind(usize),
    /// It was answered before.
    Again(usize),
    Nothing,
}

impl Answer {
    /// Where stands what was answered.
    fn place(self) -> Option<usize> {
        match self {
            Self::To(at) | Self::OtherKind(at) | Self::Again(at) => Some(at),
            Self::Nothing => None,
        }
    }
}

/// What each item of a conversation answers.
#[derive(Debug)]
pub(crate) struct Answers {
    /// None for items that answer nothing by what they are.
    by_item: Vec<Option<Answer>>,
    answered: HashSet<usize>,
}

impl Answers {
    pub(crate) fn of(messages: &[Message]) -> Self {
        let mut waiting: Waiting<&str> = Waiting::default();
        let mut by_item: Vec<Option<Answer>> = Vec::with_capacity(messages.len());
        for (index, message) in messages.iter().enumerate() {
            let named = answered(message).filter(|_| !is_nameless(message));
            by_item.push(named.map(|id| waiting.take_named(id, kind(message))));
            waiting.note(index, message);
        }
        if messages.iter().any(is_nameless) {
            // Calls that are named are not for others, and those of an output's kind are not for outputs
            // of another.
            for any_kind in [false, true] {
                // Nothing but what was answered.
                waiting = Waiting {
                    taken: waiting.taken,
                    ..Waiting::default()
                };
                for (index, message) in messages.iter().enumerate() {
                    if is_nameless(message) && by_item[index].is_none() {
                        let kind = if any_kind { "" } else { kind(message) };
                        let to = if any_kind {
                            Answer::OtherKind
                        } else {
                            Answer::To
                        };
                        by_item[index] = waiting.take_first(kind).map(to);
                    }
                    waiting.note(index, message);
                }
            }
            for (answer, message) in by_item.iter_mut().zip(messages) {
                if is_nameless(message) && answer.is_none() {
                    *answer = Some(Answer::Nothing);
                }
            }
        }
        Self {
            by_item,
            answered: waiting.taken,
        }
    }

    /// What the item with this index answers.
    pub(crate) fn get(&self, index: usize) -> Option<Answer> {
        self.by_item.get(index).copied().flatten()
    }

    /// Whether something answers the item with this index.
    pub(crate) fn is_answered(&self, index: usize) -> bool {
        self.answered.contains(&index)
    }
}

/// Where what an output can answer stands, in messages that are looked at once, from left to right, and
/// may grow.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked<K = String> {
    waiting: Waiting<K>,
    /// After the last message of others.
    response: usize,
    /// Where the responses began of which the newest reference is.
    referred: Option<usize>,
    /// Calls whose outputs a reference may still be, in order.
    unanswered: VecDeque<usize>,
    /// Where the newest reference stands that may be an output.
    output: usize,
    /// How many messages were looked at.
    seen: usize,
}

impl<K: Borrow<str> + Eq + Hash> Asked<K> {
    /// Looks at the next message. Returns what it answers; where that is not there, where the responses
    /// began of which the newest reference is, since that may stand for it. Of a reference that may be an
    /// output, the first call that it may answer.
    pub(super) fn see<'m>(&mut self, message: &'m Message) -> Option<usize>
    where
        K: From<&'m str>,
    {
        let index = self.seen;
        self.seen += 1;
        if is_of_others(message) {
            self.response = index + 1;
            // Outputs come before others speak, so the references before this are those of these calls.
            while self
                .unanswered
                .front()
                .is_some_and(|call| *call < self.output)
            {
                self.unanswered.pop_front();
            }
        } else if is_reference(message) {
            self.referred = Some(self.response);
        }
        let found = self.find(message);
        if let Some(at) = found {
            self.waiting.taken.insert(at);
        }
        self.waiting.note(index, message);
        let stands_for = self.output_of(message);
        if message.may_be_anything() {
            self.output = index;
        } else if message.calls().any(|call| !call.detached) {
            self.unanswered.push_back(index);
        }
        found.or(self.referred_by(message)).or(stands_for)
    }

    fn find(&mut self, message: &Message) -> Option<usize> {
        let id = answered(message)?;
        if is_nameless(message) {
            let fitting = self.waiting.first(kind(message));
            return fitting.or_else(|| self.waiting.first(""));
        }
        self.waiting.named(id, kind(message)).place()
    }

    fn referred_by(&self, message: &Message) -> Option<usize> {
        answered(message).and(self.referred)
    }

    /// The first call that has no output yet, if the message may be one.
    fn output_of(&mut self, message: &Message) -> Option<usize> {
        if !message.may_be_anything() {
            return None;
        }
        while let Some(first) = self.unanswered.front() {
            if !self.waiting.taken.contains(first) {
                return Some(*first);
            }
            self.unanswered.pop_front();
        }
        None
    }
}

impl Asked {
    /// What `next` answers, or may answer, after `messages`.
    pub(super) fn nearest(&mut self, messages: &[Message], next: &Message) -> Option<usize> {
        for message in messages.iter().skip(self.seen) {
            self.see(message);
        }
        let found = self.find(next).or(self.referred_by(next));
        found.or_else(|| self.output_of(next))
    }
}

/// Calls, and requests for approval, that can be answered.
#[derive(Debug, Clone, Default)]
struct Waiting<K> {
    by_id: HashMap<K, OfId>,
    /// Calls after the last message of others, and those before it.
    response: ByKind,
    older: ByKind,
    /// What was answered.
    taken: HashSet<usize>,
}

/// What has one id.
#[derive(Debug, Clone, Default)]
struct OfId {
    open: ByKind,
    newest: usize,
}

impl<K: Borrow<str> + Eq + Hash> Waiting<K> {
    /// Notes the message after all that were noted.
    fn note<'m>(&mut self, index: usize, message: &'m Message)
    where
        K: From<&'m str>,
    {
        if is_of_others(message) {
            self.older.append(&mut self.response);
        }
        let kind = kind(message);
        for id in asks(message) {
            let of_id = self.by_id.entry(K::from(id)).or_default();
            of_id.open.add(kind, index);
            of_id.newest = index;
        }
        if message.has_calls() {
            self.response.add(kind, index);
        }
    }

    /// What something with this id, and of this kind, answers.
    fn named(&mut self, id: &str, kind: &str) -> Answer {
        let Some(of_id) = self.by_id.get_mut(id) else {
            return Answer::Nothing;
        };
        let is_taken = |index: usize| self.taken.contains(&index);
        if let Some(at) = of_id.open.last(kind, is_taken) {
            return Answer::To(at);
        }
        let other = of_id.open.last("", is_taken);
        other.map_or(Answer::Again(of_id.newest), Answer::OtherKind)
    }

    fn take_named(&mut self, id: &str, kind: &str) -> Answer {
        let answer = self.named(id, kind);
        self.taken.extend(answer.place());
        answer
    }

    /// The call that an output without an id answers: the first of the response, or else the nearest.
    fn first(&mut self, kind: &str) -> Option<usize> {
        let is_taken = |index: usize| self.taken.contains(&index);
        let first = self.response.first(kind, is_taken);
        first.or_else(|| self.older.last(kind, is_taken))
    }

    fn take_first(&mut self, kind: &str) -> Option<usize> {
        let first = self.first(kind);
        self.taken.extend(first);
        first
    }
}

/// Whether it is an output that pairs by order.
pub(crate) fn is_nameless(message: &Message) -> bool {
    message.outputs().any(|output| output.call_id.is_empty())
}

/// The kind of an item that asks or answers.
fn kind(message: &Message) -> &'static str {
    let calls = message.calls().map(|call| call.kind);
    let mut kinds = calls.chain(message.outputs().map(|output| output.kind));
    kinds.next().unwrap_or("approval")
}
