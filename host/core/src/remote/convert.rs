//! Converts between the host's types and the JSON types of `wire`.

use super::vocabulary::codes;
use super::wire;
use crate::bounded::bounded;
use crate::fault::DeclaredFailure;
use crate::report::{Answer, Decision, Introspection, Report};
use crate::runner::CallFailure;
use crate::situation::Situation;

impl wire::Situation {
    /// Returns the situation as the strategy called `name` sees it.
    pub(crate) fn of(situation: &Situation, name: &str) -> Self {
        let request = &situation.request;
        let conversation = &situation.conversation;
        Self {
            trigger: request.trigger.clone(),
            context_window: request.context_window.unwrap_or(0),
            used: conversation.tokens(),
            overhead: situation.overhead_for_strategies(),
            budget: situation.limits.tokens,
            floor: situation.stay.floor.tokens,
            insertion_overhead: situation.insertion_overhead_for(name),
            opening_note: situation.opening_note(),
            cached_units: u32::try_from(conversation.units_cached(request.cached_units))
                .unwrap_or(u32::MAX),
            max_bytes: Some(situation.max_bytes_of_units()),
            max_media: Some(situation.limits.media),
            context: request.context.clone().unwrap_or_default().into(),
            required: request.required,
        }
    }
}

impl From<wire::Decision> for Decision {
    fn from(answer: wire::Decision) -> Self {
        match answer.decision {
            wire::Verdict::Compact => Self::Compact(answer.reason),
            wire::Verdict::Wait => Self::Wait(answer.reason),
            wire::Verdict::HostDecides => Self::HostDecides,
        }
    }
}

impl From<Decision> for wire::Decision {
    fn from(decision: Decision) -> Self {
        let (decision, reason) = match decision {
            Decision::Compact(reason) => (wire::Verdict::Compact, reason),
            Decision::Wait(reason) => (wire::Verdict::Wait, reason),
            Decision::HostDecides => (wire::Verdict::HostDecides, String::new()),
        };
        Self { decision, reason }
    }
}

impl TryFrom<wire::Report> for Report {
    type Error = CallFailure;

    fn try_from(report: wire::Report) -> Result<Self, Self::Error> {
        let answer = match report.outcome {
            wire::Outcome::Compacted(plan) => Answer::Compacted(plan),
            wire::Outcome::Unchanged(why) => Answer::Unchanged(why),
            wire::Outcome::Failure(failure) => return Err(failure.into()),
        };
        Ok(Self {
            answer,
            metrics: report.metrics,
        })
    }
}

impl From<wire::Failure> for CallFailure {
    fn from(failure: wire::Failure) -> Self {
        let kind = match failure.kind {
            wire::FailureKind::BadConfig => DeclaredFailure::BadConfig,
            wire::FailureKind::Model => DeclaredFailure::Model,
            wire::FailureKind::Other => DeclaredFailure::Other,
        };
        Self::Declared(kind, failure.message)
    }
}

impl TryFrom<wire::Introspection> for Introspection {
    type Error = CallFailure;

    /// Converts to texts that are safe to show: one line each, without control characters. Keeps only valid
    /// codes and metric names.
    fn try_from(said: wire::Introspection) -> Result<Self, Self::Error> {
        if let Some(failure) = said.failure {
            return Err(failure.into());
        }
        let line = |text: String, bytes| bounded(&text, bytes).replace('\n', " ");
        Ok(Self {
            name: line(said.name, 64),
            version: line(said.version, 64),
            description: line(said.description, 500),
            config_schema: said.config_schema,
            reason_codes: codes(said.reason_codes),
            metric_names: codes(said.metric_names),
            timeout_ms: said
                .timeout_ms
                .and_then(|ms| ms.get().parse::<u64>().ok())
                .filter(|ms| *ms > 0)
                .map(|ms| u32::try_from(ms).unwrap_or(u32::MAX)),
            memory_mib: None,
            fuel: None,
            metadata: Vec::new(),
        })
    }
}
