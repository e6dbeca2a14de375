//! Runs a compaction: tries the strategies of the chain in order until one succeeds.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use baler_conversation::{Conversation, Deadline};

use crate::archive::Stored;
use crate::attempt::{declare_reasons, declared_metrics, micros};
use crate::changes::UnitOutcome;
use crate::compaction::Compaction;
use crate::content_hash::ContentHash;
use crate::error::HostError;
use crate::host::Host;
use crate::metrics;
use crate::plan::Plan;
use crate::receipt::{Attempt, AttemptResult, Unchanged};
use crate::record::Record;
use crate::report::{Answer, Introspection, Report};
use crate::request::{Pins, Request};
use crate::runner::CallFailure;
use crate::situation::Situation;
use crate::strategy::Strategy;
use crate::verify::{Accepted, accept, over};

/// Failures in a row that strategies may declare before the chain goes on all the same.
const FAILURES: u32 = 3;

/// How a request ends.
enum Ending {
    Unchanged(Unchanged),
    Compacted {
        /// The name of the strategy.
        strategy: String,
        fell_back: bool,
        accepted: Box<Accepted>,
    },
}

/// What one strategy's turn came to.
enum Turn {
    Accepted(Box<Accepted>),
    Declined,
    DeclaredFailure,
    Next,
}

impl Host {
    /// Makes `conversation` fit its budget, by the first strategy of `chain` whose result is
    /// good. `native:digest` and `native:truncate` always end the chain.
    ///
    /// Whatever strategies do, the document that comes back obeys the rules of its format,
    /// holds what must stay, and is smaller; or it is the one that was handed in. Dropping the
    /// future stops the work and changes nothing.
    ///
    /// Of a conversation that was repaired ([`Conversation::repaired`]), what the repair changed
    /// or left out is archived as well; the receipt tells of it once, and the conversation that
    /// comes back knows no more of it.
    ///
    /// # Errors
    /// What leaves could not be archived; then nothing has left. Or the request pins a unit that
    /// is not there.
    pub async fn compact(
        &self,
        conversation: &Conversation,
        chain: &[Strategy],
        request: &Request,
    ) -> Result<Compaction, HostError> {
        let compaction = self.compacted(conversation, chain, request).await?;
        metrics::compaction(compaction.receipt());
        Ok(compaction)
    }

    async fn compacted(
        &self,
        conversation: &Conversation,
        chain: &[Strategy],
        request: &Request,
    ) -> Result<Compaction, HostError> {
        let units = conversation.units().len();
        if let Pins::Units(pinned) = &request.pins
            && let Some(&unit) = pinned.iter().find(|unit| **unit >= units)
        {
            return Err(HostError::NoSuchUnit { unit, units });
        }
        let situation = Arc::new(self.situation(conversation, request));
        let mut record = Record {
            start: Instant::now(),
            situation: &situation,
            attempts: Vec::new(),
            failures_in_a_row: request.failures_in_a_row,
        };
        let ending = self.ending(chain, &mut record).await;
        let start = Instant::now();
        let stored = self.store(conversation, &ending).await?;
        Ok(match ending {
            Ending::Unchanged(why) => record.unchanged(why, stored),
            Ending::Compacted {
                strategy,
                fell_back,
                mut accepted,
            } => {
                accepted.stages.archive_us = micros(start);
                record.compacted(strategy, fell_back, *accepted, stored)
            }
        })
    }

    /// Goes down the chain until a result is good, or there is a reason to leave all as it is.
    async fn ending(&self, chain: &[Strategy], record: &mut Record<'_>) -> Ending {
        let situation = record.situation;
        let request = &situation.request;
        if let Some(why) = nothing_to_do(situation) {
            return Ending::Unchanged(why);
        }
        let mut why = Unchanged::NoProgress;
        let whole = self.whole_chain(chain, situation);
        let named = chain.len();
        // One that comes twice counts once: who makes chains could else send it to rest at once.
        let mut faulted = HashSet::new();
        for (index, strategy) in whole.into_iter().enumerate() {
            // A model that did not answer one strategy is not waited for once more.
            if situation.is_over() {
                return Ending::Unchanged(Unchanged::OutOfTime);
            }
            let has_failed = situation.spending.so_far().failed > 0;
            if index >= named && has_failed && strategy.model().is_some() {
                continue;
            }
            let strategy = match situation
                .request
                .deadline
                .as_ref()
                .and_then(Deadline::remaining)
            {
                Some(left) => strategy.within(left),
                None => strategy,
            };
            let mut attempt = Attempt::of(&strategy);
            let turn = self
                .turn(&strategy, situation, &mut attempt, &mut faulted)
                .await;
            tracing::debug!(
                strategy = strategy.name(),
                result = attempt.result.code(),
                time_us = attempt.usage.time_us,
                fuel = attempt.usage.fuel,
                "a strategy had its turn"
            );
            record.attempts.push(attempt);
            match turn {
                Turn::Accepted(_) if situation.is_over() => {}
                Turn::Accepted(accepted) => {
                    return Ending::Compacted {
                        strategy: strategy.name().to_owned(),
                        fell_back: is_fallback(chain, index, situation),
                        accepted,
                    };
                }
                Turn::Declined if !request.required => {
                    return Ending::Unchanged(Unchanged::StrategyDeclined);
                }
                Turn::DeclaredFailure => {
                    record.failures_in_a_row = record.failures_in_a_row.saturating_add(1);
                    if !request.required && record.failures_in_a_row < FAILURES {
                        return Ending::Unchanged(Unchanged::StrategyFailed);
                    }
                }
                Turn::Declined => why = Unchanged::StrategyDeclined,
                Turn::Next => {}
            }
        }
        if situation.is_over() {
            why = Unchanged::OutOfTime;
        }
        Ending::Unchanged(why)
    }

    /// The chain with its native end, no strategy of it twice. Below the floor there is nothing
    /// to decide: only what must stay stays.
    fn whole_chain(&self, chain: &[Strategy], situation: &Situation) -> Vec<Strategy> {
        if !situation.below_floor.is_empty() {
            return vec![Strategy::truncate()];
        }
        // It gets the time of the strategy that it stands in for.
        let limits = chain.first().map(|first| *first.limits());
        let summarize = self.model.clone().map(|grant| {
            let strategy = Strategy::summarize(grant);
            let strategy = match limits {
                Some(limits) => strategy.with_limits(limits),
                None => strategy,
            };
            match &self.summarizer_gate {
                Some(gate) => strategy.with_gate(gate.clone()),
                None => strategy,
            }
        });
        let native = summarize
            .into_iter()
            .chain([Strategy::digest(), Strategy::truncate()]);
        let named: HashSet<&str> = chain.iter().map(Strategy::name).collect();
        let missing = native.filter(|strategy| !named.contains(strategy.name()));
        chain.iter().cloned().chain(missing).collect()
    }

    #[tracing::instrument(
        name = "strategy.compact",
        level = "debug",
        skip_all,
        fields(strategy = strategy.name(), units = situation.units().len())
    )]
    async fn turn(
        &self,
        strategy: &Strategy,
        situation: &Arc<Situation>,
        attempt: &mut Attempt,
        faulted: &mut HashSet<ContentHash>,
    ) -> Turn {
        // Before its quarantine is asked, which lets one call try after a rest.
        let Some(entered) = strategy.enter() else {
            attempt.result = AttemptResult::Busy;
            return Turn::Next;
        };
        let runner = strategy.runner();
        let key = runner.fault_key();
        if key.is_some_and(|key| !self.quarantine.admits(key, Instant::now())) {
            attempt.result = AttemptResult::Quarantined;
            return Turn::Next;
        }
        let keep_words = situation.request.free_text_in_receipt;
        let before = situation.spending.so_far();
        let call = runner.compact(strategy.terms(), situation).await;
        attempt.record_usage(call.usage, keep_words);
        attempt.model = situation.spending.so_far().since(before);
        let declared = match &call.result {
            Ok(report) if report.has_annotations() => runner.declared(*strategy.limits()).await,
            _ => None,
        };
        // The rest is the host's own work.
        drop(entered);
        let outcome = call
            .result
            .and_then(|report| verified(report, strategy, declared.as_ref(), situation, attempt));
        if let Some(key) = key
            && (outcome.is_ok() || faulted.insert(*key))
        {
            let failure = outcome.as_ref().err();
            self.quarantine.judge(key, failure, call.has_started);
        }
        match outcome {
            Ok(Some(accepted)) => {
                attempt.result = AttemptResult::Accepted;
                Turn::Accepted(accepted)
            }
            Ok(None) => {
                attempt.result = AttemptResult::Declined;
                Turn::Declined
            }
            Err(failure) => {
                let declared = matches!(failure, CallFailure::Declared(..));
                attempt.record_failure(failure, keep_words);
                if declared {
                    Turn::DeclaredFailure
                } else {
                    Turn::Next
                }
            }
        }
    }

    /// Stores all that leaves or changes, before the result is handed over; none without an
    /// archive, and where nothing changes.
    async fn store(
        &self,
        conversation: &Conversation,
        ending: &Ending,
    ) -> Result<Option<Stored>, HostError> {
        let outcomes: &[UnitOutcome] = match ending {
            Ending::Compacted { accepted, .. } => &accepted.applied.outcomes,
            Ending::Unchanged(_) if conversation.repairs().is_empty() => return Ok(None),
            Ending::Unchanged(_) => &[],
        };
        match &self.archive {
            None => Ok(None),
            Some(archive) => Ok(Some(archive.store(conversation, outcomes).await?)),
        }
    }
}

/// From a strategy's report to a result that passed every check; `None` if the strategy declined.
fn verified(
    report: Report,
    strategy: &Strategy,
    declared: Option<&Introspection>,
    situation: &Situation,
    attempt: &mut Attempt,
) -> Result<Option<Box<Accepted>>, CallFailure> {
    let keep_words = situation.request.free_text_in_receipt;
    attempt.metrics = declared_metrics(strategy, &report.metrics, declared, keep_words);
    let plan = match report.answer {
        Answer::Compacted(plan) => plan,
        // All fits as the strategy saw it: with unseen outputs shortened.
        Answer::Unchanged(_) if situation.fits_shortened() => {
            Plan::keeping(situation.units().len())
        }
        Answer::Unchanged(words) => {
            attempt.say(&words, keep_words);
            return Ok(None);
        }
    };
    let mut accepted = accept(plan, strategy, situation).map_err(CallFailure::Fault)?;
    accepted.stages.strategy_us = attempt.usage.time_us;
    declare_reasons(strategy, &mut accepted.reasons, declared);
    Ok(Some(Box::new(accepted)))
}

/// Whether the strategy at this place of the whole chain is another one than the first that was
/// asked for. Names do not tell: two strategies may have one.
fn is_fallback(chain: &[Strategy], index: usize, situation: &Situation) -> bool {
    let Some(first) = chain.first() else {
        return false;
    };
    if situation.below_floor.is_empty() {
        index > 0
    } else {
        // `native:truncate` stands there for the whole chain.
        first.name() != Strategy::truncate().name()
    }
}

fn nothing_to_do(situation: &Situation) -> Option<Unchanged> {
    let conversation = &situation.conversation;
    if conversation.envelope().continues {
        return Some(Unchanged::StoredByProvider);
    }
    if conversation.asks_to_compact() {
        return Some(Unchanged::ProviderCompacts);
    }
    if conversation.is_broken() {
        return Some(Unchanged::InvalidInput);
    }
    if over(conversation, situation, situation.budget)
        .next()
        .is_none()
    {
        return Some(Unchanged::WithinBudget);
    }
    (conversation.tokens() <= situation.floor).then_some(Unchanged::AtFloor)
}
