//! A conversation that was read.

use baler_host::Conversation;
use baler_host::conversation::rules::Violation;
use pyo3::prelude::*;
use serde_json::json;

/// A conversation that was read, divided into units and counted.
#[pyclass(frozen, module = "baler._baler")]
#[derive(Debug)]
pub(crate) struct NativeConversation(pub(crate) Conversation);

#[pymethods]
impl NativeConversation {
    /// The wire format.
    #[getter]
    fn format(&self) -> &'static str {
        self.0.format().name()
    }

    /// Tokens of the whole request.
    #[getter]
    fn tokens(&self) -> u32 {
        self.0.tokens()
    }

    /// Tokens of the system prompt, the tools and the like, which no compaction changes.
    #[getter]
    fn overhead(&self) -> u32 {
        self.0.overhead()
    }

    /// The vocabulary that counted the tokens.
    #[getter]
    fn tokenizer(&self) -> String {
        self.0.tokenizer().to_string()
    }

    /// Whether the provider has to see the request as it is: it stores the history, or is asked to compact it itself.
    #[getter]
    fn is_the_providers(&self) -> bool {
        self.0.envelope().continues || self.0.asks_to_compact()
    }

    /// Whether a rule of the format is broken so that providers refuse the request.
    #[getter]
    fn is_broken(&self) -> bool {
        self.0.is_broken()
    }

    /// The request body or the list of messages, as JSON.
    #[getter]
    fn document(&self) -> &str {
        self.0.document()
    }

    /// Number of messages.
    #[getter]
    fn message_count(&self) -> usize {
        self.0.message_count()
    }

    /// The units, as JSON.
    #[getter]
    fn units(&self) -> String {
        let units = self.0.units().iter().enumerate().map(|(index, unit)| {
            let messages = self.0.message_range(index);
            json!({
                "kind": unit.kind.name(),
                "tokens": unit.tokens,
                "messages": [messages.start, messages.end],
            })
        });
        serde_json::Value::from_iter(units).to_string()
    }

    /// The broken rules and the repairs, as JSON.
    #[getter]
    fn violations(&self) -> String {
        let counts = self.0.violation_counts();
        json!({
            "errors": counts.errors,
            "warnings": counts.warnings,
            "violations": listed(self.0.violations()),
            "repairs": self.0.repairs(),
        })
        .to_string()
    }

    /// Returns the conversation with its broken rules repaired as far as possible.
    fn repaired(&self, py: Python<'_>) -> Self {
        Self(py.detach(|| self.0.repaired()))
    }
}

fn listed(violations: &[Violation]) -> Vec<serde_json::Value> {
    violations
        .iter()
        .map(|violation| {
            json!({
                "rule": violation.rule,
                "severity": violation.severity,
                "message": violation.message,
                "what": violation.what,
                "remedy": violation.rule.remedy(),
            })
        })
        .collect()
}
