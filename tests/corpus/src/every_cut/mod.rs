//! Cuts of recorded conversations, each compacted by each strategy at several budgets.
//!
//! A cut is the first messages of a conversation. A cut that breaks a rule must come back unchanged, and is
//! then repaired and compacted. Every other result must obey the rules, contain kept messages byte for byte,
//! all protected units and the user's messages if these fit into their share, be smaller, and be within its
//! budget or at its floor. Compacting it again with the same budget must change nothing. A failed check does
//! not panic: it becomes a [`Failure`] with numbers and names, never text.

mod compacted;
mod failure;
mod grown;
mod tally;
mod words;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::Parrot;
use baler_host::{
    Conversation, Format, Host, HostBuilder, Strategy,
    conversation::rules::Severity,
    conversation::{ReadError, SecretKey},
};

pub use failure::{Check, Failure};
pub use tally::{Row, Tally};

use crate::messages::Messages;
use crate::sound::Before;
use crate::{Recording, RecordingKind};
use compacted::Compacting;

/// The budgets, in percent of the tokens without overhead.
pub const PERCENTS: [u32; 4] = [5, 10, 25, 50];

/// Conversations with more messages are cut only after every tenth message, and at their end.
const LONG: usize = 60;

/// The number of cuts after which a grown conversation is compared with one that was read at once.
const COMPARED: usize = 7;

/// A fixed key, because seals have different numbers of tokens.
const KEY: SecretKey = SecretKey::new([0; 32]);

/// The cuts of a conversation that are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cuts {
    /// All of a short conversation, every tenth of a long one, and the last.
    All,
    /// After each message.
    Each,
    /// Only at the end.
    Last,
}

/// A host for each format, with the strategies that ship with baler.
#[derive(Debug)]
pub struct Checker {
    lanes: BTreeMap<&'static str, Lane>,
}

#[derive(Debug)]
struct Lane {
    host: Host,
    strategies: Vec<Strategy>,
}

impl Checker {
    /// Builds hosts with `builder`, with the native strategies and these guests, each a name and a component.
    ///
    /// # Errors
    /// A host cannot be built, or a guest cannot be loaded.
    pub async fn new(
        builder: impl Fn() -> HostBuilder,
        guests: impl Iterator<Item = (&str, &[u8])> + Clone,
    ) -> Result<Self, String> {
        let mut lanes = BTreeMap::new();
        for format in Format::ALL {
            let host = builder()
                .key(KEY)
                .format(*format)
                .build()
                .map_err(|error| error.to_string())?;
            let mut strategies = vec![Strategy::digest(), Strategy::truncate()];
            for (name, wasm) in guests.clone() {
                let guest = host.load(name, wasm).await;
                let guest = guest.map_err(|error| format!("{name}: {error}"))?;
                strategies.push(Parrot::granted(guest));
            }
            lanes.insert(format.name(), Lane { host, strategies });
        }
        Ok(Self { lanes })
    }

    /// Checks one conversation at these cuts and budgets.
    pub async fn check(&self, recorded: &Recording, cuts: Cuts, percents: &[u32]) -> Tally {
        let mut tally = Tally::new(recorded);
        let Some(lane) = self.lanes.get(recorded.format) else {
            tally.fail(Check::Read, "there is no such format");
            return tally;
        };
        match lane.document(recorded) {
            Ok(document) => {
                lane.check(recorded, &document, cuts, percents, &mut tally)
                    .await;
            }
            Err(error) => tally.fail(Check::Read, &error.to_string()),
        }
        tally
    }
}

impl Lane {
    /// Returns the request body; for a log, the body that the host makes of it.
    fn document<'a>(&self, recorded: &'a Recording) -> Result<Cow<'a, str>, ReadError> {
        if recorded.kind == RecordingKind::Document {
            return Ok(Cow::Borrowed(&recorded.document));
        }
        let read = self.host.read(recorded.document.as_str())?;
        Ok(Cow::Owned(read.document().to_owned()))
    }

    async fn check(
        &self,
        recorded: &Recording,
        document: &str,
        cuts: Cuts,
        percents: &[u32],
        tally: &mut Tally,
    ) {
        tally.row.conversations += 1;
        let Some(messages) = Messages::of(document) else {
            tally.row.empty += 1;
            return;
        };
        let all = messages.all.len();
        // To the last cut alone there is no need to grow.
        let mut grown = None;
        let mut checked = 0;
        for cut in (if cuts == Cuts::Last { all } else { 1 })..=all {
            tally.cut = cut;
            let next = match grown.take() {
                None => self.host.read(messages.cut(cut)),
                Some(conversation) => append(conversation, messages.all[cut - 1]),
            };
            let conversation = match next {
                Ok(conversation) => conversation,
                Err(error) => {
                    // An error names numbers and rules, never text.
                    tally.fail(Check::Read, &error.to_string());
                    return;
                }
            };
            let is_short = all <= LONG || cuts == Cuts::Each;
            if is_short || cut % 10 == 0 || cut == all {
                if checked % COMPARED == 0 || cut == all {
                    self.compare(&conversation, &messages, cut, tally);
                }
                self.check_cut(recorded, &conversation, percents, tally)
                    .await;
                checked += 1;
            }
            grown = Some(conversation);
        }
    }

    /// Checks that a grown conversation equals one that was read at once.
    fn compare(
        &self,
        conversation: &Conversation,
        messages: &Messages<'_>,
        cut: usize,
        tally: &mut Tally,
    ) {
        tally.row.compared += 1;
        let difference = match self.host.read(messages.cut(cut)) {
            Ok(whole) => grown::difference(conversation, &whole, &messages.all[..cut]),
            Err(_) => Some("it does not read"),
        };
        if let Some(difference) = difference {
            tally.fail(Check::Grown, difference);
        }
    }

    async fn check_cut(
        &self,
        recorded: &Recording,
        conversation: &Conversation,
        percents: &[u32],
        tally: &mut Tally,
    ) {
        tally.row.cuts += 1;
        let broken: Vec<_> = conversation
            .broken()
            .map(|violation| violation.rule)
            .collect();
        for rule in &broken {
            *tally.broken_before.entry(rule.id()).or_default() += 1;
        }
        tally.row.invalid += usize::from(!broken.is_empty());
        let mut violations = conversation.violations().iter();
        let is_warned = violations.any(|own| own.severity == Severity::Warning);
        tally.row.warned += usize::from(is_warned);
        self.compact_all(recorded, conversation, percents, tally)
            .await;
        if broken.is_empty() {
            return;
        }
        let repaired = conversation.repaired();
        if repaired.broken().next().is_some() {
            return;
        }
        tally.row.repaired += 1;
        match self.host.read(repaired.document()) {
            Ok(read) => self.compact_all(recorded, &read, percents, tally).await,
            Err(error) => tally.fail(Check::Read, &format!("once repaired: {error}")),
        }
    }

    /// Compacts with every strategy to every budget.
    async fn compact_all(
        &self,
        recorded: &Recording,
        conversation: &Conversation,
        percents: &[u32],
        tally: &mut Tally,
    ) {
        let document = conversation.document();
        let is_broken = conversation.broken().next().is_some();
        let before = Before::of(recorded.format, document).filter(|_| !is_broken);
        if let Some(before) = &before
            && !is_continued(document)
            && let Err(wrong) = before.rules()
        {
            tally.fail_wrong(Check::Disagree, wrong);
            return;
        }
        for strategy in &self.strategies {
            for percent in percents {
                tally.strategy = strategy.name().to_owned();
                tally.percent = *percent;
                let compacting = Compacting {
                    host: &self.host,
                    strategy,
                    before: conversation,
                    sound: before.as_ref(),
                };
                compacting.check(tally).await;
            }
        }
        tally.strategy.clear();
        tally.percent = 0;
    }
}

fn append(mut conversation: Conversation, message: &str) -> Result<Conversation, ReadError> {
    conversation.append(message).map(|()| conversation)
}

/// Whether the request continues one that the provider stored, which cannot be checked.
fn is_continued(document: &str) -> bool {
    let body: serde_json::Value = serde_json::from_str(document).unwrap_or_default();
    body["previous_response_id"].is_string()
        || !body["conversation"].is_null()
        || body["thread"]["type"] == "continue"
}
