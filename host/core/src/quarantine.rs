//! Quarantine: a strategy that keeps faulting is not run for a while.
//!
//! Only a strategy's own faults count. They are counted by a content hash, that of the component or of the
//! remote's address, so a new build of a component starts without faults. A fault that the conversation may
//! have caused counts for that conversation, and once for all others: whoever writes into one conversation
//! cannot take the strategy away from the others. A host that serves several clients counts fewer faults:
//! see [`CountedFaults`].

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use baler_conversation::message::Content;
use baler_conversation::{Conversation, UnitKind};

use crate::content_hash::ContentHash;
use crate::fault::{Fault, RemoteProblem};
use crate::limits::{CountedFaults, EngineLimits};
use crate::runner::CallFailure;

/// Most records. Beyond, faults of further conversations count for all conversations only.
const RECORDS: usize = 1_000;

#[derive(Debug)]
pub(crate) struct Quarantine {
    faults: usize,
    counted: CountedFaults,
    window: Duration,
    cool_down: Duration,
    records: Mutex<HashMap<Scope, Record>>,
}

/// A strategy, and the conversation for which faults count; `None` for all conversations.
type Scope = (ContentHash, Option<ContentHash>);

/// A strategy, and the conversation of which it is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    strategy: ContentHash,
    conversation: ContentHash,
}

impl Asked {
    /// `strategy` is its content hash. A conversation is recognised by its first user message: that stays when it
    /// grows, and when it is compacted. Conversations that begin alike count as one.
    pub(crate) fn of(strategy: &ContentHash, conversation: &Conversation) -> Self {
        let units = conversation.units();
        let first = units.iter().position(|unit| unit.kind == UnitKind::User);
        let messages = conversation.messages(first.unwrap_or(0)).iter();
        let parts = messages.take(1).flat_map(|message| &message.parts);
        let texts = parts.filter_map(|part| match &part.content {
            Content::Text(place) => Some(conversation.text(place)),
            _ => None,
        });
        let text: String = texts.collect();
        Self {
            strategy: *strategy,
            conversation: ContentHash::of(text.as_bytes()),
        }
    }

    /// Returns what faults count for: this conversation, and all.
    const fn scopes(&self) -> [Scope; 2] {
        [
            (self.strategy, Some(self.conversation)),
            (self.strategy, None),
        ]
    }
}

#[derive(Debug, Default)]
struct Record {
    /// Times of its faults, oldest first. Those for all conversations have the one that may have caused them.
    faults: Vec<(Instant, Option<ContentHash>)>,
    /// End of its quarantine; `None` if it is not in quarantine.
    until: Option<Instant>,
}

impl Quarantine {
    pub(crate) fn new(limits: &EngineLimits) -> Self {
        Self {
            faults: limits.faults.max(1) as usize,
            counted: limits.counted_faults,
            window: limits.fault_window,
            cool_down: limits.cool_down,
            records: Mutex::default(),
        }
    }

    /// Records the result of a call. Only the strategy's own faults count, as far as this host counts them.
    /// `has_started` says that the strategy could be asked.
    pub(crate) fn record_call(
        &self,
        asked: &Asked,
        failure: Option<&CallFailure>,
        has_started: bool,
    ) {
        let is_unprovoked = |fault: &Fault| match fault {
            // A slow connection does not count: many simultaneous requests slow down connections.
            Fault::Remote { problem } => *problem == RemoteProblem::Unreachable,
            // A client's deadline can shorten the time of a call.
            Fault::Timeout { .. } => false,
            _ => !has_started,
        };
        match failure {
            // The strategy was not asked, so nothing is known about it.
            Some(CallFailure::Fault(Fault::Remote {
                problem: RemoteProblem::NoRoom,
            })) => {}
            Some(CallFailure::Fault(fault)) if is_unprovoked(fault) => {
                self.faulted_unprovoked(asked, Instant::now());
            }
            Some(CallFailure::Fault(_)) if self.counted == CountedFaults::All => {
                self.faulted(asked, Instant::now());
            }
            // It is unknown whether the server can be reached.
            Some(CallFailure::Fault(Fault::Remote {
                problem: RemoteProblem::ConnectTimeout,
            })) => {}
            // A fault that does not count still shows that the strategy could be asked.
            Some(CallFailure::Fault(_)) | None => self.succeeded(asked),
            Some(CallFailure::Declared(..) | CallFailure::Host(_)) => {}
        }
    }

    /// Returns whether a strategy may run now. After the cool-down it admits one call; further calls wait for
    /// the result of that call, or for another cool-down.
    pub(crate) fn admits(&self, asked: &Asked, now: Instant) -> bool {
        let mut records = self.lock();
        let until = |scope: &Scope| records.get(scope).and_then(|record: &Record| record.until);
        let scopes = asked.scopes();
        if scopes.iter().filter_map(until).any(|until| now < until) {
            return false;
        }
        for scope in &scopes {
            if let Some(record) = records.get_mut(scope)
                && record.until.is_some()
            {
                record.until = Some(now + self.cool_down);
            }
        }
        true
    }

    /// Records a successful call, which ends the quarantine for its conversation and for all.
    fn succeeded(&self, asked: &Asked) {
        let mut records = self.lock();
        for scope in asked.scopes() {
            records.remove(&scope);
        }
    }

    /// Records a fault that the conversation may have caused.
    fn faulted(&self, asked: &Asked, now: Instant) {
        let mut records = self.lock();
        let [own, all] = asked.scopes();
        if records.len() >= RECORDS {
            let is_recent = |record: &Record| {
                let last = record.faults.last();
                last.is_some_and(|(at, _)| now.duration_since(*at) <= self.window)
            };
            records.retain(|(_, conversation), record| conversation.is_none() || is_recent(record));
        }
        if records.len() < RECORDS || records.contains_key(&own) {
            self.add(records.entry(own).or_default(), None, now);
        }
        self.add(records.entry(all).or_default(), own.1, now);
    }

    /// Records a fault that no conversation and no request can have caused.
    fn faulted_unprovoked(&self, asked: &Asked, now: Instant) {
        let [_, all] = asked.scopes();
        self.add(self.lock().entry(all).or_default(), None, now);
    }

    /// Adds a fault, unless one of the same conversation is counted.
    fn add(&self, record: &mut Record, conversation: Option<ContentHash>, now: Instant) {
        let faults = &mut record.faults;
        faults.retain(|(at, _)| now.duration_since(*at) <= self.window);
        if conversation.is_some() && faults.iter().any(|(_, other)| *other == conversation) {
            return;
        }
        faults.push((now, conversation));
        if record.until.is_some() || record.faults.len() >= self.faults {
            record.until = Some(now + self.cool_down);
        }
    }

    /// Ends the quarantine of all strategies.
    pub(crate) fn lift(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Scope, Record>> {
        self.records
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUEST: ContentHash = ContentHash::new([1; 32]);
    const OTHER: ContentHash = ContentHash::new([2; 32]);
    const SECOND: Duration = Duration::from_secs(1);

    fn quarantine() -> Quarantine {
        Quarantine::new(&EngineLimits::default())
    }

    /// The guest, asked of the conversation with this number.
    fn of(conversation: u16) -> Asked {
        let [high, low] = conversation.to_be_bytes();
        let mut hash = [0; 32];
        (hash[0], hash[1]) = (high, low);
        Asked {
            strategy: GUEST,
            conversation: ContentHash::new(hash),
        }
    }

    #[test]
    fn third_fault_in_the_window_quarantines_that_component_for_that_conversation() {
        let (quarantine, now) = (quarantine(), Instant::now());
        let other = Asked {
            strategy: OTHER,
            ..of(0)
        };
        for _ in 0..2 {
            quarantine.faulted(&of(0), now);
            assert!(quarantine.admits(&of(0), now));
        }
        // However many more.
        for _ in 0..4 {
            quarantine.faulted(&of(0), now);
            assert!(!quarantine.admits(&of(0), now));
            assert!(quarantine.admits(&of(1), now));
            assert!(quarantine.admits(&other, now));
        }
    }

    #[test]
    fn faults_of_three_conversations_quarantine_for_all() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for conversation in 0..3 {
            assert!(quarantine.admits(&of(3), now), "{conversation}");
            quarantine.faulted(&of(conversation), now);
        }
        assert!(!quarantine.admits(&of(3), now));
    }

    #[test]
    fn faults_that_no_conversation_caused_quarantine_for_all() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for _ in 0..3 {
            assert!(quarantine.admits(&of(1), now));
            quarantine.faulted_unprovoked(&of(0), now);
        }
        assert!(!quarantine.admits(&of(1), now));
    }

    #[test]
    fn a_success_leaves_the_faults_of_other_conversations_to_these() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for _ in 0..3 {
            quarantine.faulted(&of(0), now);
        }
        quarantine.faulted(&of(1), now);
        quarantine.succeeded(&of(2));
        quarantine.faulted(&of(1), now);
        quarantine.faulted(&of(3), now);
        // Two conversations since the success.
        assert!(quarantine.admits(&of(2), now));
        assert!(!quarantine.admits(&of(0), now));
        quarantine.faulted(&of(1), now);
        assert!(!quarantine.admits(&of(1), now));
    }

    #[test]
    fn cool_down_admits_one_call_until_its_result_is_known() {
        let now = Instant::now();
        // Quarantined for one conversation, and for all.
        for conversations in [[0, 0, 0], [0, 1, 2]] {
            let quarantine = quarantine();
            for conversation in conversations {
                quarantine.faulted(&of(conversation), now);
            }
            let asked = of(conversations[2]);
            let later = now + 61 * SECOND;
            assert!(quarantine.admits(&asked, later));
            assert!(
                !quarantine.admits(&asked, later),
                "the first call has no result yet"
            );
            quarantine.faulted(&asked, later);
            assert!(!quarantine.admits(&asked, later + 59 * SECOND));
            assert!(quarantine.admits(&asked, later + 61 * SECOND));
            quarantine.succeeded(&asked);
            assert!(quarantine.admits(&asked, later + 61 * SECOND));
            assert!(quarantine.admits(&asked, later + 61 * SECOND));
        }
    }

    #[test]
    fn a_conversation_that_is_counted_does_not_prolong_the_quarantine_for_others() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for conversation in 0..3 {
            quarantine.faulted(&of(conversation), now);
        }
        quarantine.faulted(&of(0), now + 50 * SECOND);
        assert!(quarantine.admits(&of(4), now + 61 * SECOND));
    }

    #[test]
    fn faults_outside_the_window_do_not_add_up() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for hour in 0..10 {
            quarantine.faulted(&of(0), now + hour * 3600 * SECOND);
        }
        assert!(quarantine.admits(&of(0), now + 10 * 3600 * SECOND));
    }

    #[test]
    fn records_are_limited_and_old_ones_make_room() {
        let (quarantine, now) = (quarantine(), Instant::now());
        for conversation in 0..2_000 {
            quarantine.faulted(&of(conversation), now);
        }
        // And that of all conversations, which needs no room.
        assert!(quarantine.lock().len() <= RECORDS + 1);
        let later = now + 3600 * SECOND;
        for _ in 0..3 {
            quarantine.faulted(&of(2_000), later);
        }
        assert!(!quarantine.admits(&of(2_000), later));
        assert_eq!(quarantine.lock().len(), 2);
    }
}
