//! Checks one compaction: one cut, one strategy, one budget.

use std::collections::HashSet;

use baler_conversation::document::as_message;
use baler_host::{
    Budget, Compaction, Conversation, Host, Request, Strategy,
    conversation::UnitKind,
    conversation::rules::{Rule, Severity},
    receipt::{Origin, UnitOutcome},
};

use super::{Check, Tally, words};
use crate::messages::Messages;
use crate::sound::{self, Before};

/// A compaction that is made and checked.
pub(super) struct Compacting<'a> {
    pub(super) host: &'a Host,
    pub(super) strategy: &'a Strategy,
    pub(super) before: &'a Conversation,
    /// `None` if the input breaks a rule of its format.
    pub(super) sound: Option<&'a Before<'a>>,
}

impl Compacting<'_> {
    pub(super) async fn check(&self, tally: &mut Tally) {
        let share = Budget::Share(f64::from(tally.percent) / 100.0);
        let Some(compaction) = self.compact(self.before, share, tally).await else {
            return;
        };
        let Some(sound) = self.sound else {
            self.check_untouched(&compaction, tally);
            return;
        };
        tally.row.compactions += 1;
        let receipt = compaction.receipt();
        tally.row.fell_back += usize::from(receipt.fell_back && !receipt.tokens.below_floor);
        for attempt in &receipt.attempts {
            if attempt.result.code() != "accepted" {
                let key = format!("{}: {}", attempt.strategy, attempt.result.code());
                *tally.attempts.entry(key).or_default() += 1;
            }
        }
        let target = receipt.tokens.budget.max(receipt.tokens.floor);
        if receipt.tokens.after > target {
            let what = format!(
                "{} tokens, budget {}, floor {}",
                receipt.tokens.after, receipt.tokens.budget, receipt.tokens.floor,
            );
            tally.fail(Check::Budget, &what);
        }
        let again = if compaction.is_compacted() {
            tally.row.changed += 1;
            tally.tokens_before += u64::from(receipt.tokens.before);
            tally.tokens_after += u64::from(receipt.tokens.after);
            // What a later run would see is the document, read anew.
            match self.host.read(compaction.document()) {
                Ok(read) => {
                    self.check_result(sound, &compaction, &read, tally);
                    read
                }
                Err(error) => {
                    tally.fail(Check::Rules, &format!("it does not read: {error}"));
                    return;
                }
            }
        } else {
            self.check_untouched(&compaction, tally);
            self.before.clone()
        };
        let same = Budget::Tokens(receipt.tokens.budget);
        if let Some(second) = self.compact(&again, same, tally).await
            && second.document() != compaction.document()
        {
            let (first, second) = (&receipt.tokens, &second.receipt().tokens);
            let what = format!(
                "{} tokens, then {}; budget {}; floor {}, then {}",
                first.after, second.after, first.budget, first.floor, second.floor
            );
            tally.fail(Check::Again, &what);
        }
    }

    async fn compact(
        &self,
        conversation: &Conversation,
        budget: Budget,
        tally: &mut Tally,
    ) -> Option<Compaction> {
        let request = Request::default()
            .with_budget(budget)
            // One that declines, or fails, does so within the rules; then another one does it.
            .with_required(true);
        let chain = std::slice::from_ref(self.strategy);
        match self.host.compact(conversation, chain, &request).await {
            Ok(compaction) => Some(compaction),
            Err(error) => {
                tally.fail(Check::Read, &format!("the host failed: {error}"));
                None
            }
        }
    }

    fn check_untouched(&self, compaction: &Compaction, tally: &mut Tally) {
        if compaction.is_compacted() || compaction.document() != self.before.document() {
            tally.fail(Check::Verbatim, "it should have come back as it was");
        }
    }

    fn check_result(
        &self,
        sound: &Before<'_>,
        compaction: &Compaction,
        read: &Conversation,
        tally: &mut Tally,
    ) {
        let receipt = compaction.receipt();
        let known: Vec<(Rule, Severity)> = self
            .before
            .violations()
            .iter()
            .map(|one| (one.rule, one.severity))
            .collect();
        if let Some(new) = read
            .violations()
            .iter()
            .find(|one| !known.contains(&(one.rule, one.severity)))
        {
            tally.fail(Check::Rules, new.rule.id());
        }
        if let Err(wrong) = sound.check(compaction.document()) {
            tally.fail_wrong(Check::Rules, wrong);
        }
        if read.tokens() != receipt.tokens.after {
            tally.fail(Check::Size, "it counts differently when it is read again");
        }
        if receipt.tokens.after >= receipt.tokens.before {
            tally.fail(Check::Size, "it is not smaller");
        }
        if !self.is_verbatim(compaction) {
            tally.fail(
                Check::Verbatim,
                "a unit that was kept is not there as it was",
            );
        }
        if let Err(wrong) = self.check_origins(compaction) {
            tally.fail(Check::Verbatim, wrong);
        }
        for lost in self.lost(compaction) {
            tally.fail(Check::Lost, lost);
        }
        let outcomes = compaction.changes().outcomes();
        if let Some(unit) = words::lost(self.before, &outcomes, &receipt.tokens) {
            let what =
                format!("a message of the user is not as it was, though all fit: unit {unit}");
            tally.fail(Check::Words, &what);
        }
    }

    /// Whether the result contains the messages of each kept unit, in order. A user message may have
    /// additional parts.
    fn is_verbatim(&self, compaction: &Compaction) -> bool {
        let Some(after) = Messages::of(compaction.document()) else {
            return false;
        };
        // Instructions may move behind what the user says next.
        let may_move = |unit: usize| {
            matches!(
                self.before.units()[unit].kind,
                UnitKind::Instructions | UnitKind::Other
            )
        };
        [true, false].into_iter().all(|moves| {
            let mut rest = after.all.iter();
            compaction
                .changes()
                .outcomes()
                .iter()
                .enumerate()
                .filter(|(unit, outcome)| {
                    **outcome == UnitOutcome::Kept && may_move(*unit) == moves
                })
                .flat_map(|(unit, _)| self.before.raw_messages(unit))
                .all(|message| rest.any(|new| *new == message || sound::is_joined(message, new)))
        })
    }

    /// Whether the changes tell the truth: where each message of the result comes from, and where
    /// each unit went.
    fn check_origins(&self, compaction: &Compaction) -> Result<(), &'static str> {
        let raw = |of: &Conversation| -> Vec<String> {
            let messages = of.all_messages().iter();
            messages.map(|message| of.raw(message).to_owned()).collect()
        };
        let (before, after) = (raw(self.before), raw(compaction.conversation()));
        let changes = compaction.changes();
        if changes.messages.len() != after.len() {
            return Err("there is not one origin for each message");
        }
        let mut came = HashSet::new();
        for (message, origin) in after.iter().zip(&changes.messages) {
            let is_true = match origin {
                Origin::Kept(index) => as_message(&before[*index]) == as_message(message),
                Origin::Changed(index) => before[*index] != *message,
                Origin::Inserted => true,
            };
            if !is_true {
                return Err("a message is not what its origin says");
            }
            if origin.message().is_some_and(|index| !came.insert(index)) {
                return Err("a message comes twice");
            }
        }
        for (unit, change) in changes.units.iter().enumerate() {
            let own = self.before.message_range(unit);
            let comes = changes.messages.get(change.messages.clone());
            let Some(comes) = comes else {
                return Err("a unit is said to stand outside of the result");
            };
            let is_own =
                |origin: &Origin| origin.message().is_some_and(|index| own.contains(&index));
            let is_gone = change.outcome == UnitOutcome::Removed;
            if is_gone != comes.is_empty() || !comes.is_empty() && !comes.iter().any(is_own) {
                return Err("a unit is not where the changes say");
            }
        }
        Ok(())
    }

    fn lost(&self, compaction: &Compaction) -> Vec<&'static str> {
        let units = self.before.units();
        let newest = units.iter().rposition(|unit| unit.traits.user_text);
        let mut lost = Vec::new();
        for (index, (unit, outcome)) in units
            .iter()
            .zip(compaction.changes().outcomes())
            .enumerate()
        {
            if outcome != UnitOutcome::Removed {
                continue;
            }
            if unit.kind == UnitKind::Instructions {
                lost.push("instructions were dropped");
            }
            if unit.traits.pending {
                lost.push("a pending call was dropped");
            }
            if newest == Some(index) {
                lost.push("the newest unit with the user's text was dropped");
            }
        }
        lost
    }
}
