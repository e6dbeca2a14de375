//! What is recorded while a compaction runs, and the receipt made from it.

use std::sync::Arc;
use std::time::Instant;

use baler_archive::Stored;
use baler_conversation::Conversation;
use baler_conversation::rules::MAX_LISTED;

use crate::accept::Accepted;
use crate::attempt::micros;
use crate::changes::Changes;
use crate::changes::UnitOutcome;
use crate::compaction::Compaction;
use crate::prompt_cache;
use crate::receipt::{
    Archived, Attempt, BeforeAfter, Original, Outcome, ReasonCode, Receipt, Stages, Tokens,
    Unchanged, Units, UserWords,
};
use crate::situation::Situation;

/// Record of a running compaction.
pub(crate) struct Record<'a> {
    pub(crate) start: Instant,
    pub(crate) situation: &'a Arc<Situation>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) failures_in_a_row: u32,
}

impl Record<'_> {
    /// Makes the result of a compaction that changed nothing but repairs.
    pub(crate) fn unchanged(self, why: Unchanged, stored: Option<Stored>) -> Compaction {
        let conversation = self.situation.conversation.clone();
        let outcome = if conversation.repairs().is_empty() {
            Outcome::Unchanged(why)
        } else {
            Outcome::Repaired(why)
        };
        Compaction {
            changes: Changes::none(&conversation, self.situation.protected().collect()),
            drops_thinking: self.drops_thinking(),
            receipt: self.receipt(outcome, &conversation, stored),
            conversation: conversation.without_repairs(),
            plan: None,
        }
    }

    /// Makes the result of a compaction with an accepted plan.
    pub(crate) fn compacted(
        mut self,
        strategy: String,
        fell_back: bool,
        accepted: Accepted,
        stored: Option<Stored>,
    ) -> Compaction {
        self.failures_in_a_row = 0;
        let drops_thinking = self.drops_thinking();
        let Accepted {
            conversation,
            applied,
            plan,
            reasons,
            stages,
        } = accepted;
        let protected = self.situation.protected().collect();
        let before = &self.situation.conversation;
        let kept = prompt_cache::leading_units_kept(&applied.outcomes, &applied.insertions);
        let kept = applied.first_moved.map_or(kept, |moved| kept.min(moved));
        let cached = self.situation.request.cached_units;
        let cache = prompt_cache::effect(before, &conversation, cached, kept);
        let sent = (cache.is_some()).then(|| {
            let units = kept.min(before.units_cached(cached));
            before.message_range(units.saturating_sub(1)).end * usize::from(units > 0)
        });
        let conversation = conversation.with_sent(sent);
        let count = |outcome| {
            applied
                .outcomes
                .iter()
                .filter(|of_unit| **of_unit == outcome)
                .count()
        };
        let user_words = user_words(self.situation, &applied.outcomes);
        let receipt = Receipt {
            user_words: Some(user_words),
            strategy: Some(strategy),
            fell_back,
            units: Units {
                before: applied.outcomes.len(),
                kept: count(UnitOutcome::Kept),
                rewritten: count(UnitOutcome::Rewritten),
                removed: count(UnitOutcome::Removed),
                inserted: applied.inserted,
                thinking_removed: applied.thinking_removed,
                texts_shortened: applied.shortened,
                pictures_left_out: applied.pictures_left_out,
            },
            reasons: reasons
                .into_iter()
                .map(|reason| ReasonCode {
                    first: reason.units.first,
                    count: reason.units.count,
                    code: reason.code,
                })
                .collect(),
            stages,
            cache,
            ..self.receipt(Outcome::Compacted, &conversation, stored)
        };
        Compaction {
            changes: Changes::of(
                before,
                applied.outcomes,
                applied.origins,
                applied.insertions,
                protected,
            ),
            conversation,
            receipt,
            drops_thinking,
            plan: Some(plan),
        }
    }

    fn drops_thinking(&self) -> bool {
        let binding = self.situation.conversation.envelope().binding;
        self.situation.request.policy.drops_thinking(binding)
    }

    /// Makes the receipt of a compaction in which every unit was kept.
    fn receipt(self, outcome: Outcome, after: &Conversation, stored: Option<Stored>) -> Receipt {
        let situation = self.situation;
        let before = &situation.conversation;
        let units = before.units().len();
        let (archive, originals, undo) = match stored {
            Some(stored) => (
                Some(archived(stored.units)),
                originals(stored.originals),
                Some(stored.undo),
            ),
            None => (
                situation.archived.then(Vec::new),
                originals_without_archive(before),
                None,
            ),
        };
        Receipt {
            receipt: 1,
            outcome,
            strategy: None,
            fell_back: false,
            attempts: self.attempts,
            project: None,
            format: before.format(),
            tokenizer: before.tokenizer().to_string(),
            trigger: situation.request.trigger.name().to_owned(),
            required: situation.request.required,
            tokens: Tokens {
                before: before.tokens(),
                after: after.tokens(),
                budget: situation.limits.tokens,
                floor: situation.stay.floor.tokens,
                overhead: before.overhead(),
                below_floor: situation.limits.tokens < situation.stay.floor.tokens,
            },
            below_floor: situation.below_floor().collect(),
            bytes: BeforeAfter {
                before: before.bytes(),
                after: after.bytes(),
            },
            messages: BeforeAfter {
                before: before.all_messages().len(),
                after: after.all_messages().len(),
            },
            cache: prompt_cache::effect(before, after, situation.request.cached_units, units),
            units: Units {
                before: units,
                kept: units,
                ..Units::default()
            },
            user_words: None,
            reasons: Vec::new(),
            archive,
            undo,
            failures_in_a_row: self.failures_in_a_row,
            repairs: before.repairs().to_vec(),
            repair_counts: before.repair_counts(),
            originals,
            original_count: before.replaced_count(),
            violations: before.violations().to_vec(),
            violation_counts: before.violation_counts().clone(),
            time_us: micros(self.start),
            stages: Stages::default(),
        }
    }
}

fn user_words(situation: &Situation, outcomes: &[UnitOutcome]) -> UserWords {
    let mut words = UserWords::default();
    let outcomes = outcomes.iter().enumerate();
    for (_, outcome) in outcomes.filter(|(unit, _)| situation.words_in(*unit).is_some()) {
        match outcome {
            UnitOutcome::Kept => words.kept += 1,
            UnitOutcome::Rewritten => words.rewritten += 1,
            UnitOutcome::Removed => words.removed += 1,
        }
    }
    words
}

fn archived(units: Vec<(usize, String)>) -> Vec<Archived> {
    let units = units.into_iter();
    units
        .map(|(unit, reference)| Archived { unit, reference })
        .collect()
}

fn originals(originals: Vec<(usize, String)>) -> Vec<Original> {
    let originals = originals.into_iter();
    originals
        .map(|(message, reference)| Original {
            message,
            reference: Some(reference),
        })
        .collect()
}

/// Returns the messages that repairs changed or removed, without references.
fn originals_without_archive(conversation: &Conversation) -> Vec<Original> {
    let replaced = conversation.replaced().take(MAX_LISTED);
    replaced
        .map(|(message, _)| Original {
            message,
            reference: None,
        })
        .collect()
}
