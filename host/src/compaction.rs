//! A compaction: down the chain until a result is good.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use crate::archive::Stored;
use crate::cache;
use crate::conversation::Conversation;
use crate::deadline::Deadline;
use crate::fault::{Declared, Fault, HostError, Quantity};
use crate::formats::{ReadError, Rule};
use crate::host::Host;
use crate::listed::MOST_LISTED;
use crate::metrics;
use crate::plan::{Applied, CheckedPlan, Fate, Plan, Reason, Shortened, apply, check};
use crate::receipt::{
    Attempt, AttemptResult, BeforeAfter, LogLine, Original, Outcome, ReasonCode, Receipt, Stages,
    Tokens, Unchanged, Units, Usage, bounded,
};
use crate::report::{Answer, Decision, Introspection, Metric, Report, Value};
use crate::sandbox::{self, CallFailure, Digest};
use crate::situation::{Pins, Request, Situation};
use crate::strategy::{Kind, Strategy};
use crate::unseen::Free;

/// Failures in a row that strategies may declare before the chain goes on all the same.
const FAILURES: u32 = 3;

/// The most bytes of each thing that a strategy says in words.
const WORDS: usize = 2_000;

/// What came of a request: a conversation, and the receipt.
#[derive(Debug)]
pub struct Compaction {
    conversation: Conversation,
    fates: Vec<Fate>,
    protected: Vec<bool>,
    insertions: Vec<usize>,
    /// For each unit that came in, the message of the result that it begins with.
    places: Vec<Option<usize>>,
    receipt: Receipt,
    /// Whether thinking goes from what stands behind a change of this conversation.
    drops_thinking: bool,
    /// The plan that was carried out, as its strategy made it; none where none was.
    plan: Option<Plan>,
}

impl Compaction {
    /// The message of the result with which a unit of the conversation that came in begins; none
    /// where nothing of it is left.
    pub(crate) fn place_of(&self, unit: usize) -> Option<usize> {
        self.places.get(unit).copied().flatten()
    }

    /// Whether thinking goes from what comes to stand behind the result, which was made behind the
    /// conversation that came in.
    pub(crate) const fn drops_thinking(&self) -> bool {
        self.drops_thinking
    }

    pub(crate) fn into_plan(self) -> Option<Plan> {
        self.plan
    }

    /// The document: the new one, or the one that was handed in, byte for byte.
    #[must_use]
    pub fn document(&self) -> &str {
        self.conversation.document()
    }

    /// The document as a conversation, already read and counted.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// What was done, and why.
    #[must_use]
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// What became of each unit of the conversation that came in.
    #[must_use]
    pub fn fates(&self) -> &[Fate] {
        &self.fates
    }

    /// Which units of the conversation that came in had to stay.
    #[must_use]
    pub fn protected(&self) -> &[bool] {
        &self.protected
    }

    /// Where texts were inserted: each before this unit of the conversation that came in.
    #[must_use]
    pub fn insertions(&self) -> &[usize] {
        &self.insertions
    }

    /// Whether the document is smaller than the one that was handed in. One that was repaired
    /// and not compacted is not.
    #[must_use]
    pub fn is_compacted(&self) -> bool {
        self.receipt.outcome == Outcome::Compacted
    }
}

/// A result that passed every check.
pub(crate) struct Accepted {
    pub(crate) conversation: Conversation,
    pub(crate) applied: Applied,
    plan: Plan,
    reasons: Vec<Reason>,
    stages: Stages,
}

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
        faulted: &mut HashSet<Digest>,
    ) -> Turn {
        let start = Instant::now();
        let keep_words = situation.request.words_in_receipt;
        // Before its quarantine is asked, which lets one call try after a rest.
        let Some(entered) = strategy.enter() else {
            attempt.result = AttemptResult::Busy;
            return Turn::Next;
        };
        if let Some(digest) = strategy.accountable()
            && !self.quarantine.admits(digest, start)
        {
            attempt.result = AttemptResult::Quarantined;
            return Turn::Next;
        }
        let before = situation.spending.so_far();
        let mut has_started = true;
        let report = match strategy.kind() {
            Kind::Guest(loaded) => match self.sandbox() {
                Err(error) => Err(CallFailure::Host(error)),
                Ok(sandbox) => {
                    let call = sandbox
                        .compact(
                            &loaded.guest,
                            situation,
                            strategy.config(),
                            self.limits_of(strategy, loaded).await,
                            strategy.model(),
                        )
                        .await;
                    attempt.record_usage(call.usage, keep_words);
                    has_started = call.has_started;
                    call.result
                }
            },
            Kind::Remote(connected) => {
                let result = connected.compact(situation, strategy).await;
                attempt.record_time(start);
                result
            }
            Kind::Summarize => {
                let report = Self::run_summarize(strategy, situation).await;
                attempt.record_time(start);
                report
            }
            native => {
                let report = Self::run_native(native, situation);
                attempt.record_time(start);
                report.ok_or_else(|| {
                    CallFailure::Host(HostError::Sandbox {
                        what: "a guest is no native strategy".to_owned(),
                    })
                })
            }
        };
        attempt.model = situation.spending.so_far().since(before);
        let said = match (strategy.kind(), &report) {
            (Kind::Guest(loaded), Ok(report)) if report.has_annotations() => {
                self.said(loaded, strategy.limits()).await.cloned()
            }
            (Kind::Remote(connected), Ok(report)) if report.has_annotations() => {
                connected.declared()
            }
            _ => None,
        };
        // The rest is the host's own work.
        drop(entered);
        let said = said.as_ref();
        let outcome = report.and_then(|report| {
            attempt.metrics = declared_metrics(strategy, &report.metrics, said, keep_words);
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
            accept(plan, strategy, situation)
                .map(|mut accepted| {
                    accepted.stages.strategy_us = attempt.usage.time_us;
                    declare_reasons(strategy, &mut accepted.reasons, said);
                    Some(Box::new(accepted))
                })
                .map_err(CallFailure::Fault)
        });
        if let Some(digest) = strategy.accountable()
            && (outcome.is_ok() || faulted.insert(*digest))
        {
            self.judge(digest, outcome.as_ref().err(), has_started);
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
        let fates: &[Fate] = match ending {
            Ending::Compacted { accepted, .. } => &accepted.applied.fates,
            Ending::Unchanged(_) if conversation.repairs().is_empty() => return Ok(None),
            Ending::Unchanged(_) => &[],
        };
        match &self.archive {
            None => Ok(None),
            Some(archive) => Ok(Some(archive.store(conversation, fates).await?)),
        }
    }
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
        !matches!(first.kind(), Kind::Truncate)
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

/// What of `conversation` is over its limits.
fn over(
    conversation: &Conversation,
    situation: &Situation,
    tokens: u32,
) -> impl Iterator<Item = Fault> {
    let media = u64::from(conversation.media());
    [
        (
            Quantity::Tokens,
            u64::from(conversation.tokens()),
            u64::from(tokens),
        ),
        (
            Quantity::Bytes,
            conversation.bytes() as u64,
            situation.max_bytes as u64,
        ),
        (Quantity::Media, media, u64::from(situation.max_media)),
    ]
    .into_iter()
    .filter(|(_, result, limit)| result > limit)
    .map(|(what, result, limit)| Fault::OverBudget {
        what,
        result,
        limit,
    })
}

/// From a plan to a result that passed every check.
pub(crate) fn accept(
    plan: Plan,
    strategy: &Strategy,
    situation: &Situation,
) -> Result<Accepted, Fault> {
    let mut stages = Stages::default();
    let start = Instant::now();
    let checked = check(
        plan.clone(),
        strategy,
        situation,
        strategy.limits().of_plan(),
    )?;
    stages.check_us = micros(start);
    let (applied, after) = carried_out(&checked, situation, &mut stages)?;
    let start = Instant::now();
    let before = &situation.conversation;
    if let Some(violation) = after.broken().next() {
        return Err(Fault::InvalidResult {
            rule: violation.rule,
        });
    }
    if let Some(rule) = new_warning(before, &after) {
        return Err(Fault::InvalidResult { rule });
    }
    // What cannot be reached is no reason to refuse what comes closest.
    let is_below = |fault: &Fault| matches!(fault, Fault::OverBudget { what, .. } if *what != Quantity::Tokens && situation.below_floor.contains(what));
    if let Some(fault) = over(&after, situation, situation.target()).find(|fault| !is_below(fault))
    {
        return Err(fault);
    }
    if after.tokens() >= before.tokens() {
        return Err(Fault::NoProgress {
            before: before.tokens(),
            after: after.tokens(),
        });
    }
    stages.verify_us += micros(start);
    Ok(Accepted {
        conversation: after,
        applied,
        plan,
        reasons: checked.reasons,
        stages,
    })
}

/// A rule about which a result raises a doubt that its conversation did not.
fn new_warning(before: &Conversation, after: &Conversation) -> Option<Rule> {
    let mut new = after.warned().difference(before.warned());
    new.next().map(|(rule, _)| *rule)
}

/// How often a plan is carried out at most, until unseen outputs take what it leaves of the budget.
const FITTINGS: usize = 3;

/// The result of a plan. Outputs that the model has not seen get what the plan leaves of the budget:
/// they are shortened where that is too little for them, and no further.
fn carried_out(
    checked: &CheckedPlan,
    situation: &Situation,
    stages: &mut Stages,
) -> Result<(Applied, Conversation), Fault> {
    let unseen = &situation.unseen;
    let target = situation.target();
    // At the floor they are at their shortest, or a second compaction would find something to do.
    let may_widen = situation.budget >= situation.floor;
    let mut cap = unseen.cap();
    // What came closest, and whether it is too large.
    let mut best: Option<(Applied, Conversation)> = None;
    let mut is_best_over = true;
    for _ in 0..FITTINGS {
        let start = Instant::now();
        let shortened = Shortened::under(situation, cap);
        let applied = apply(checked, situation, &shortened);
        stages.apply_us += micros(start);
        let start = Instant::now();
        // The result is read like any other document: what it holds is what counts, not what we
        // think that we wrote.
        let after = situation
            .conversation
            .read_alike(
                applied.document.clone(),
                situation.request.deadline.as_ref(),
            )
            .map_err(|error| match error {
                ReadError::OutOfTime => Fault::timeout(start.elapsed()),
                _ => Fault::InvalidResult { rule: Rule::All1 },
            })?;
        stages.verify_us += micros(start);
        let tokens = u64::from(after.tokens());
        let is_over = tokens > u64::from(target) || after.bytes() > situation.max_bytes;
        // Outputs may have fewer tokens than their cap. Where that was too large, one by what they
        // have fits.
        let used = if is_over {
            shortened.tokens()
        } else {
            unseen.tokens_at(cap)
        };
        let bytes = (unseen.bytes_at(cap) + situation.max_bytes as u64)
            .saturating_sub(after.bytes() as u64);
        let next = unseen.cap_for(Free {
            tokens: (used + u64::from(target)).saturating_sub(tokens),
            bytes,
        });
        // A higher cap is no promise of a longer text.
        let has_more = |(_, best): &(Applied, Conversation)| after.tokens() > best.tokens();
        if is_best_over || !is_over && best.as_ref().is_some_and(has_more) {
            best = Some((applied, after));
            is_best_over = is_over;
        }
        let is_settled = if is_over {
            next >= cap
        } else {
            next <= cap || !may_widen
        };
        if unseen.outputs().is_empty() || is_settled {
            break;
        }
        cap = next;
    }
    best.ok_or(Fault::OutputMalformed)
}

struct Record<'a> {
    start: Instant,
    situation: &'a Arc<Situation>,
    attempts: Vec<Attempt>,
    failures_in_a_row: u32,
}

impl Record<'_> {
    fn unchanged(self, why: Unchanged, stored: Option<Stored>) -> Compaction {
        let conversation = self.situation.conversation.clone();
        let units = conversation.units();
        let places = units.iter().map(|unit| Some(unit.first_message)).collect();
        let units = units.len();
        let outcome = if conversation.repairs().is_empty() {
            Outcome::Unchanged(why)
        } else {
            Outcome::Repaired(why)
        };
        Compaction {
            fates: vec![Fate::Kept; units],
            protected: self.situation.protected().collect(),
            insertions: Vec::new(),
            places,
            drops_thinking: self.drops_thinking(),
            receipt: self.receipt(outcome, &conversation, stored),
            conversation: conversation.without_repairs(),
            plan: None,
        }
    }

    fn compacted(
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
        let kept = cache::leading_units_kept(&applied.fates, &applied.insertions);
        let kept = applied.first_moved.map_or(kept, |moved| kept.min(moved));
        let said = self.situation.request.cached_units;
        let cache = cache::effect(before, &conversation, said, kept);
        let sent = (cache.is_some()).then(|| {
            let units = kept.min(before.units_cached(said));
            before.message_range(units.saturating_sub(1)).end * usize::from(units > 0)
        });
        let conversation = conversation.with_sent(sent);
        let count = |fate| applied.fates.iter().filter(|own| **own == fate).count();
        let receipt = Receipt {
            strategy: Some(strategy),
            fell_back,
            units: Units {
                before: applied.fates.len(),
                kept: count(Fate::Kept),
                rewritten: count(Fate::Rewritten),
                dropped: count(Fate::Dropped),
                inserted: applied.inserted,
                thinking_dropped: applied.thinking_dropped,
                outputs_shortened: applied.shortened,
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
            fates: applied.fates,
            protected,
            insertions: applied.insertions,
            places: applied.places,
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

    fn receipt(self, outcome: Outcome, after: &Conversation, stored: Option<Stored>) -> Receipt {
        let situation = self.situation;
        let before = &situation.conversation;
        let units = before.units().len();
        let (archive, originals, undo) = match stored {
            Some(stored) => (Some(stored.units), stored.originals, Some(stored.undo)),
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
            format: before.format(),
            tokenizer: before.tokenizer().to_string(),
            trigger: situation.request.trigger.name().to_owned(),
            required: situation.request.required,
            tokens: Tokens {
                before: before.tokens(),
                after: after.tokens(),
                budget: situation.budget,
                floor: situation.floor,
                overhead: before.overhead(),
                below_floor: situation.budget < situation.floor,
            },
            below_floor: situation.below_floor.clone(),
            bytes: BeforeAfter {
                before: before.bytes(),
                after: after.bytes(),
            },
            messages: BeforeAfter {
                before: before.all_messages().len(),
                after: after.all_messages().len(),
            },
            cache: cache::effect(before, after, situation.request.cached_units, units),
            units: Units {
                before: units,
                kept: units,
                rewritten: 0,
                dropped: 0,
                inserted: 0,
                thinking_dropped: 0,
                outputs_shortened: 0,
            },
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

/// What repairs changed or left out, where none of it is stored.
fn originals_without_archive(conversation: &Conversation) -> Vec<Original> {
    let replaced = conversation.replaced().take(MOST_LISTED);
    replaced
        .map(|(message, _)| Original {
            message,
            reference: None,
        })
        .collect()
}

impl Attempt {
    pub(crate) fn of(strategy: &Strategy) -> Self {
        Self {
            strategy: strategy.name().to_owned(),
            component: strategy.component(),
            result: AttemptResult::Declined,
            usage: Usage::default(),
            model: None,
            metrics: Vec::new(),
            words: None,
        }
    }

    pub(crate) fn record_usage(&mut self, usage: sandbox::Usage, keep_words: bool) {
        self.usage = Usage {
            fuel: usage.fuel,
            time_us: u64::try_from(usage.time.as_micros()).unwrap_or(u64::MAX),
            memory_bytes: usage.memory as u64,
            host_calls: usage.host_calls,
            log_lines: usage.log.len() as u64,
            log_lines_dropped: usage.log_dropped,
        };
        if keep_words && !usage.log.is_empty() {
            let log = usage.log.into_iter().map(|(level, text)| LogLine {
                level,
                text: bounded(&text, WORDS),
            });
            self.words.get_or_insert_default().log.extend(log);
        }
    }

    pub(crate) fn record_time(&mut self, start: Instant) {
        self.usage.time_us = micros(start);
    }

    /// A strategy that fails to say whether it is time has no opinion.
    pub(crate) fn decided(
        &mut self,
        answer: Result<Decision, CallFailure>,
        keep_words: bool,
    ) -> Decision {
        match answer {
            Ok(decision) => {
                self.result = AttemptResult::Accepted;
                decision
            }
            Err(failure) => {
                self.record_failure(failure, keep_words);
                Decision::HostDecides
            }
        }
    }

    pub(crate) fn record_failure(&mut self, failure: CallFailure, keep_words: bool) {
        self.result = match failure {
            CallFailure::Fault(fault) => AttemptResult::Fault { fault },
            CallFailure::Declared(failure, words) => {
                self.say(&words, keep_words);
                AttemptResult::Failure { failure }
            }
            CallFailure::Host(error) => AttemptResult::Host {
                error: error.to_string(),
            },
        };
    }

    fn say(&mut self, words: &str, keep_words: bool) {
        if keep_words {
            self.words.get_or_insert_default().reason = Some(bounded(words, WORDS));
        }
    }

    /// Whether the strategy declared that it failed.
    #[must_use]
    pub fn declared_failure(&self) -> Option<Declared> {
        match &self.result {
            AttemptResult::Failure { failure } => Some(*failure),
            _ => None,
        }
    }
}

impl Report {
    fn has_annotations(&self) -> bool {
        let reasons = match &self.answer {
            Answer::Compacted(plan) => !plan.reasons.is_empty(),
            Answer::Unchanged(_) => false,
        };
        reasons || !self.metrics.is_empty()
    }
}

/// A strategy's own figures under the names that it declares, of each name the first. Anything else
/// could carry text of the conversation into a receipt, as could the order of names that come again.
fn declared_metrics(
    strategy: &Strategy,
    metrics: &[Metric],
    said: Option<&Introspection>,
    keep_words: bool,
) -> Vec<Metric> {
    let is_declared = |name: &str| {
        strategy.is_native()
            || said.is_some_and(|said| said.metric_names.iter().any(|known| known == name))
    };
    let mut names = HashSet::new();
    metrics
        .iter()
        .take(strategy.limits().annotations)
        .filter(|metric| is_declared(&metric.name) && names.insert(metric.name.as_str()))
        .filter_map(|metric| {
            let value = match &metric.value {
                Value::Text(_) if !keep_words => return None,
                Value::Text(text) => Value::Text(bounded(text, WORDS)),
                Value::Ratio(ratio) if !ratio.is_finite() => return None,
                other => other.clone(),
            };
            Some(Metric {
                name: metric.name.clone(),
                value,
            })
        })
        .take(100)
        .collect()
}

fn declare_reasons(strategy: &Strategy, reasons: &mut [Reason], said: Option<&Introspection>) {
    if strategy.is_native() {
        return;
    }
    let declared: HashSet<&str> = said
        .iter()
        .flat_map(|said| said.reason_codes.iter().map(String::as_str))
        .collect();
    for reason in reasons {
        if !declared.contains(reason.code.as_str()) {
            reason.code = "undeclared".to_owned();
        }
    }
}

fn micros(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::formats::Format;

    #[test]
    fn a_new_warning_is_found_behind_more_warnings_than_are_listed() {
        let empty = json!({"role": "user", "content": [{"type": "text", "text": ""}]});
        let lonely = json!({"role": "function", "name": "tides", "content": "07:14"});
        let read = |messages: Vec<Value>| {
            let document = Value::from(messages).to_string();
            Conversation::of(&document, Some(Format::OpenAiChat)).expect("reads")
        };
        let mut messages = vec![empty; 2 * MOST_LISTED];
        let before = read(messages.clone());
        messages.push(lonely);
        let after = read(messages);
        assert_eq!(new_warning(&before, &before), None);
        assert_eq!(new_warning(&before, &after), Some(Rule::Chat5));
        assert_eq!(new_warning(&after, &before), None);
    }
}
