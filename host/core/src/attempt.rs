//! Records the attempt of one strategy.

use std::collections::HashSet;
use std::time::Instant;

use crate::bounded::bounded;
use crate::fault::DeclaredFailure;
use crate::plan::Reason;
use crate::receipt::{Attempt, AttemptResult, LogLine, Usage};
use crate::report::{Answer, Decision, Introspection, Metric, MetricValue, Report};
use crate::runner::{CallFailure, CallUsage};
use crate::strategy::Strategy;

/// Maximum bytes of each of a strategy's free-text messages.
const FREE_TEXT_BYTES: usize = 2_000;

/// Maximum number of metrics that a receipt holds of one attempt, after undeclared and repeated ones are left
/// out. [`Limits::annotations`](crate::limits::Limits) limits how many are read of a report.
const RECORDED_METRICS: usize = 100;

impl Attempt {
    pub(crate) fn of(strategy: &Strategy) -> Self {
        Self {
            strategy: strategy.name().to_owned(),
            component: strategy.component(),
            result: AttemptResult::Declined,
            usage: Usage::default(),
            model: None,
            verification: None,
            metrics: Vec::new(),
            free_text: None,
        }
    }

    pub(crate) fn record_usage(&mut self, usage: CallUsage, keep_free_text: bool) {
        self.usage = Usage {
            fuel: usage.fuel,
            time_us: u64::try_from(usage.time.as_micros()).unwrap_or(u64::MAX),
            memory_bytes: usage.memory as u64,
            host_calls: usage.host_calls,
            log_lines: usage.log.len() as u64,
            log_lines_dropped: usage.log_dropped,
        };
        if keep_free_text && !usage.log.is_empty() {
            let log = usage.log.into_iter().map(|(level, text)| LogLine {
                level,
                text: bounded(&text, FREE_TEXT_BYTES),
            });
            self.free_text.get_or_insert_default().log.extend(log);
        }
    }

    /// Records the answer to whether to compact now, and returns the decision. After a failure the host
    /// decides.
    pub(crate) fn record_decision(
        &mut self,
        answer: Result<Decision, CallFailure>,
        keep_free_text: bool,
    ) -> Decision {
        match answer {
            Ok(decision) => {
                self.result = AttemptResult::Accepted;
                decision
            }
            Err(failure) => {
                self.record_failure(failure, keep_free_text);
                Decision::HostDecides
            }
        }
    }

    pub(crate) fn record_failure(&mut self, failure: CallFailure, keep_free_text: bool) {
        self.result = match failure {
            CallFailure::Fault(fault) => AttemptResult::Fault { fault },
            CallFailure::Declared(failure, why) => {
                self.record_reason(&why, keep_free_text);
                AttemptResult::Failure { failure }
            }
            CallFailure::Host(error) => AttemptResult::Host {
                error: crate::error::with_causes(&error),
            },
        };
    }

    /// Records a strategy's reason as free text, if receipts may hold such text.
    pub(crate) fn record_reason(&mut self, text: &str, keep_free_text: bool) {
        if keep_free_text {
            self.free_text.get_or_insert_default().reason = Some(bounded(text, FREE_TEXT_BYTES));
        }
    }

    /// Returns the failure that the strategy declared; `None` if it declared none.
    #[must_use]
    pub fn declared_failure(&self) -> Option<DeclaredFailure> {
        match &self.result {
            AttemptResult::Failure { failure } => Some(*failure),
            _ => None,
        }
    }
}

impl Report {
    /// Returns whether the report has reasons or metrics, which need a declaration.
    pub(crate) fn has_annotations(&self) -> bool {
        let reasons = match &self.answer {
            Answer::Compacted(plan) => !plan.reasons.is_empty(),
            Answer::Unchanged(_) => false,
        };
        reasons || !self.metrics.is_empty()
    }
}

/// Returns the strategy's metrics with declared names, and of several metrics with the same name the first.
/// Anything else could carry text of the conversation into a receipt, even the order of repeated names.
pub(crate) fn declared_metrics(
    strategy: &Strategy,
    metrics: &[Metric],
    declared: Option<&Introspection>,
    keep_free_text: bool,
) -> Vec<Metric> {
    let is_declared = |name: &str| {
        strategy.is_native()
            || declared.is_some_and(|own| own.metric_names.iter().any(|known| known == name))
    };
    let mut names = HashSet::new();
    metrics
        .iter()
        .take(strategy.limits().annotations)
        .filter(|metric| is_declared(&metric.name) && names.insert(metric.name.as_str()))
        .filter_map(|metric| {
            let value = match &metric.value {
                MetricValue::Text(_) if !keep_free_text => return None,
                MetricValue::Text(text) => MetricValue::Text(bounded(text, FREE_TEXT_BYTES)),
                MetricValue::Ratio(ratio) if !ratio.is_finite() => return None,
                other => other.clone(),
            };
            Some(Metric {
                name: metric.name.clone(),
                value,
            })
        })
        .take(RECORDED_METRICS)
        .collect()
}

/// Replaces the code of every reason that `declared` does not list. Such a code could carry text of the
/// conversation into a receipt.
pub(crate) fn replace_undeclared_reasons(
    strategy: &Strategy,
    reasons: &mut [Reason],
    declared: Option<&Introspection>,
) {
    if strategy.is_native() {
        return;
    }
    let codes: HashSet<&str> = declared
        .iter()
        .flat_map(|own| own.reason_codes.iter().map(String::as_str))
        .collect();
    for reason in reasons {
        if !codes.contains(reason.code.as_str()) {
            reason.code = "undeclared".to_owned();
        }
    }
}

/// Returns the microseconds since `start`.
pub(crate) fn micros(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}
