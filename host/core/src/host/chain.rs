//! Runs a compaction: tries the strategies of the chain in order until one succeeds.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use baler_conversation::{Conversation, Deadline};

use crate::accept::{Accepted, accept};
use crate::ask_twice;
use crate::attempt::{declared_metrics, micros, replace_undeclared_reasons};
use crate::changes::UnitOutcome;
use crate::compaction::Compaction;
use crate::content_hash::ContentHash;
use crate::error::HostError;
use crate::host::Host;
use crate::pictures;
use crate::plan::Plan;
use crate::quarantine::Asked;
use crate::receipt::{Attempt, AttemptResult, Unchanged};
use crate::receipt_builder::Record;
use crate::report::{Answer, Introspection, Report};
use crate::request::Request;
use crate::runner::CallFailure;
use crate::situation::Situation;
use crate::strategy::Strategy;
use baler_archive::{Archive, Stored};

/// Number of failures declared in a row from which on the chain continues after a declared failure.
const MAX_FAILURES_IN_A_ROW: u32 = 3;

/// Result of a request.
enum Ending {
    Unchanged(Unchanged),
    Compacted {
        /// Name of the strategy that made the result.
        strategy: String,
        /// Whether a fallback made the result.
        fell_back: bool,
        accepted: Box<Accepted>,
    },
}

/// Result of one strategy's attempt, as far as the chain needs it.
enum AttemptEnd {
    Accepted(Box<Accepted>),
    Declined,
    DeclaredFailure,
    /// The strategy did not run, or it faulted.
    NoResult,
}

/// Makes `conversation` fit its budget ([`Host::compact`]), with this archive instead of the host's own.
pub(crate) async fn compact(
    host: &Host,
    archive: Option<&Archive>,
    conversation: &Conversation,
    chain: &[Strategy],
    request: &Request,
) -> Result<Compaction, HostError> {
    let units = conversation.units().len();
    let mut pinned = request.pins.named().iter();
    if let Some(&unit) = pinned.find(|unit| **unit >= units) {
        return Err(HostError::NoSuchUnit { unit, units });
    }
    let situation = Arc::new(Situation::new(conversation, request, archive.is_some()));
    let mut record = Record {
        start: Instant::now(),
        situation: &situation,
        attempts: Vec::new(),
        failures_in_a_row: request.failures_in_a_row,
    };
    let ending = run_chain(host, chain, &mut record).await;
    let start = Instant::now();
    let stored = store(archive, conversation, &ending).await?;
    let compaction = match ending {
        Ending::Unchanged(why) => record.unchanged(why, stored),
        Ending::Compacted {
            strategy,
            fell_back,
            mut accepted,
        } => {
            accepted.stages.archive_us = micros(start);
            record.compacted(strategy, fell_back, *accepted, stored)
        }
    };
    #[cfg(feature = "sandbox")]
    let compaction = host.components.under_list(compaction);
    #[cfg(feature = "metrics")]
    crate::metrics::compaction(compaction.receipt());
    Ok(compaction)
}

/// Tries the strategies in order until a result is accepted, or there is a reason to change nothing.
async fn run_chain(host: &Host, chain: &[Strategy], record: &mut Record<'_>) -> Ending {
    let situation = record.situation;
    let request = &situation.request;
    if let Some(why) = nothing_to_do(situation) {
        return Ending::Unchanged(why);
    }
    let mut why = Unchanged::NoProgress;
    // The provider would refuse the conversation.
    let is_required = request.required || pictures::are_refused(situation);
    let whole = whole_chain(host, chain, situation);
    let named = chain.len();
    // A strategy that occurs several times is counted once: otherwise a chain could quarantine it at
    // once.
    let mut faulted = HashSet::new();
    for (index, strategy) in whole.into_iter().enumerate() {
        if situation.is_over() {
            return Ending::Unchanged(Unchanged::OutOfTime);
        }
        // A model that failed for one strategy is not asked again by a strategy that the host adds.
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
        let end = attempt_of(host, &strategy, situation, &mut attempt, &mut faulted).await;
        tracing::debug!(
            strategy = strategy.name(),
            result = attempt.result.code(),
            time_us = attempt.usage.time_us,
            fuel = attempt.usage.fuel,
            "a strategy's attempt ended"
        );
        record.attempts.push(attempt);
        match end {
            AttemptEnd::Accepted(_) if situation.is_over() => {}
            AttemptEnd::Accepted(accepted) => {
                return Ending::Compacted {
                    strategy: strategy.name().to_owned(),
                    fell_back: is_fallback(chain, index, situation),
                    accepted,
                };
            }
            AttemptEnd::Declined if !is_required => {
                return Ending::Unchanged(Unchanged::StrategyDeclined);
            }
            AttemptEnd::DeclaredFailure => {
                record.failures_in_a_row = record.failures_in_a_row.saturating_add(1);
                if !is_required && record.failures_in_a_row < MAX_FAILURES_IN_A_ROW {
                    return Ending::Unchanged(Unchanged::StrategyFailed);
                }
            }
            AttemptEnd::Declined => why = Unchanged::StrategyDeclined,
            AttemptEnd::NoResult => {}
        }
    }
    if situation.is_over() {
        why = Unchanged::OutOfTime;
    }
    Ending::Unchanged(why)
}

/// Returns the chain with the native strategies that it lacks at its end. Below the floor there is
/// nothing to decide, because only protected units stay: the chain is `native:truncate` alone.
fn whole_chain(host: &Host, chain: &[Strategy], situation: &Situation) -> Vec<Strategy> {
    if situation.is_below_floor() {
        return vec![Strategy::truncate()];
    }
    // As a fallback it gets the limits of the chain's first strategy.
    let limits = chain.first().map(|first| *first.limits());
    let summarize = host.model.clone().map(|grant| {
        let strategy = Strategy::summarize(grant);
        let strategy = match limits {
            Some(limits) => strategy.with_limits(limits),
            None => strategy,
        };
        match &host.summarizer_gate {
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
async fn attempt_of(
    host: &Host,
    strategy: &Strategy,
    situation: &Arc<Situation>,
    attempt: &mut Attempt,
    faulted: &mut HashSet<ContentHash>,
) -> AttemptEnd {
    // Before the quarantine is asked: it admits one call after a cool-down, which must then run.
    let Some(entered) = strategy.enter() else {
        attempt.result = AttemptResult::Busy;
        return AttemptEnd::NoResult;
    };
    let runner = strategy.runner();
    let key = runner.fault_key();
    let asked = key.map(|key| Asked::of(key, &situation.conversation));
    if asked.is_some_and(|asked| !host.quarantine.admits(&asked, Instant::now())) {
        attempt.result = AttemptResult::Quarantined;
        return AttemptEnd::NoResult;
    }
    let keep_free_text = situation.request.free_text_in_receipt;
    let before = situation.spending.so_far();
    let (call, verification) = ask_twice::compact(runner, strategy.terms(), situation).await;
    attempt.verification = verification;
    attempt.record_usage(call.usage, keep_free_text);
    attempt.model = situation.spending.so_far().since(before);
    let declared = match &call.result {
        Ok(report) if report.has_annotations() => runner.declared(*strategy.limits()).await,
        _ => None,
    };
    // The call is over: checking the result is the host's own work.
    drop(entered);
    let outcome = call
        .result
        .and_then(|report| check_report(report, strategy, declared.as_ref(), situation, attempt));
    if let Some((key, asked)) = key.zip(asked)
        && (outcome.is_ok() || faulted.insert(*key))
    {
        let failure = outcome.as_ref().err();
        host.quarantine
            .record_call(&asked, failure, call.has_started);
    }
    match outcome {
        Ok(Some(accepted)) => {
            attempt.result = AttemptResult::Accepted;
            AttemptEnd::Accepted(accepted)
        }
        Ok(None) => {
            attempt.result = AttemptResult::Declined;
            AttemptEnd::Declined
        }
        Err(failure) => {
            let declared = matches!(failure, CallFailure::Declared(..));
            attempt.record_failure(failure, keep_free_text);
            if declared {
                AttemptEnd::DeclaredFailure
            } else {
                AttemptEnd::NoResult
            }
        }
    }
}

/// Archives all content that the result removes or changes. Returns `None` without an archive, and if
/// nothing changes.
async fn store(
    archive: Option<&Archive>,
    conversation: &Conversation,
    ending: &Ending,
) -> Result<Option<Stored>, HostError> {
    let outcomes: &[UnitOutcome] = match ending {
        Ending::Compacted { accepted, .. } => &accepted.applied.outcomes,
        Ending::Unchanged(_) if conversation.repairs().is_empty() => return Ok(None),
        Ending::Unchanged(_) => &[],
    };
    match archive {
        None => Ok(None),
        Some(archive) => {
            let gone = outcomes.iter().enumerate();
            let gone = gone.filter(|(_, outcome)| **outcome != UnitOutcome::Kept);
            let stored = archive.store(conversation, gone.map(|(unit, _)| unit));
            Ok(Some(stored.await?))
        }
    }
}

/// Turns a strategy's report into a result that passed every check; `None` if the strategy declined.
fn check_report(
    report: Report,
    strategy: &Strategy,
    declared: Option<&Introspection>,
    situation: &Situation,
    attempt: &mut Attempt,
) -> Result<Option<Box<Accepted>>, CallFailure> {
    let keep_free_text = situation.request.free_text_in_receipt;
    attempt.metrics = declared_metrics(strategy, &report.metrics, declared, keep_free_text);
    let plan = match report.answer {
        Answer::Compacted(plan) => plan,
        // The strategy sees the conversation with long texts shortened, and as such it fits. Or the host leaves out
        // pictures that the provider refuses, and need not remove anything else.
        Answer::Unchanged(_)
            if situation.fits_shortened() || pictures::are_all_that_is_wrong(situation) =>
        {
            Plan::keeping(situation.units().len())
        }
        Answer::Unchanged(why) => {
            attempt.record_reason(&why, keep_free_text);
            return Ok(None);
        }
    };
    let mut accepted = accept(plan, strategy, situation).map_err(CallFailure::Fault)?;
    accepted.stages.strategy_us = attempt.usage.time_us;
    replace_undeclared_reasons(strategy, &mut accepted.reasons, declared);
    Ok(Some(Box::new(accepted)))
}

/// Returns whether the strategy at `index` of the whole chain is a fallback: another one than the first of
/// `chain`. Names alone do not decide that, because two strategies may share a name.
fn is_fallback(chain: &[Strategy], index: usize, situation: &Situation) -> bool {
    let Some(first) = chain.first() else {
        return false;
    };
    if situation.is_below_floor() {
        // The whole chain is `native:truncate` alone.
        first.name() != Strategy::truncate().name()
    } else {
        index > 0
    }
}

/// Returns why no strategy needs to be asked; `None` if one is needed.
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
    if pictures::are_refused(situation) {
        return None;
    }
    if situation
        .exceeded_by(conversation, situation.limits.tokens)
        .next()
        .is_none()
    {
        return Some(Unchanged::WithinBudget);
    }
    (conversation.tokens() <= situation.stay.floor.tokens).then_some(Unchanged::AtFloor)
}
