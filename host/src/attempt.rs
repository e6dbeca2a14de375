//! Recording the attempt of one strategy.

use std::collections::HashSet;
use std::time::Instant;

use crate::bounded::bounded;
use crate::fault::DeclaredFailure;
use crate::plan::Reason;
use crate::receipt::{Attempt, AttemptResult, LogLine, Usage};
use crate::report::{Answer, Decision, Introspection, Metric, MetricValue, Report};
use crate::runner::{CallFailure, CallUsage};
use crate::strategy::Strategy;

/// The most bytes of each thing that a strategy says in words.
const WORDS: usize = 2_000;

impl Attempt {
    pub(crate) fn of(strategy: &Strategy) -> Self {
        Self {
            strategy: strategy.name().to_owned(),
            component: strategy.component(),
            result: AttemptResult::Declined,
            usage: Usage::default(),
            model: None,
            metrics: Vec::new(),
            free_text: None,
        }
    }

    pub(crate) fn record_usage(&mut self, usage: CallUsage, keep_words: bool) {
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
            self.free_text.get_or_insert_default().log.extend(log);
        }
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
                error: error.with_causes(),
            },
        };
    }

    pub(crate) fn say(&mut self, words: &str, keep_words: bool) {
        if keep_words {
            self.free_text.get_or_insert_default().reason = Some(bounded(words, WORDS));
        }
    }

    /// Whether the strategy declared that it failed.
    #[must_use]
    pub fn declared_failure(&self) -> Option<DeclaredFailure> {
        match &self.result {
            AttemptResult::Failure { failure } => Some(*failure),
            _ => None,
        }
    }
}

impl Report {
    pub(crate) fn has_annotations(&self) -> bool {
        let reasons = match &self.answer {
            Answer::Compacted(plan) => !plan.reasons.is_empty(),
            Answer::Unchanged(_) => false,
        };
        reasons || !self.metrics.is_empty()
    }
}

/// A strategy's own figures under the names that it declares, of each name the first. Anything else
/// could carry text of the conversation into a receipt, as could the order of names that come again.
pub(crate) fn declared_metrics(
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
                MetricValue::Text(_) if !keep_words => return None,
                MetricValue::Text(text) => MetricValue::Text(bounded(text, WORDS)),
                MetricValue::Ratio(ratio) if !ratio.is_finite() => return None,
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

pub(crate) fn declare_reasons(
    strategy: &Strategy,
    reasons: &mut [Reason],
    said: Option<&Introspection>,
) {
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

pub(crate) fn micros(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}
