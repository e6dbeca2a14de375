//! A conversation that was read.

use baler_host::conversation::rules::Violation;
use serde_json::{Value, json};

/// A conversation that was read, divided into units and counted.
#[derive(Debug, Clone)]
pub struct Conversation(pub(crate) baler_host::Conversation);

impl From<baler_host::Conversation> for Conversation {
    fn from(read: baler_host::Conversation) -> Self {
        Self(read)
    }
}

impl Conversation {
    /// What was read.
    #[must_use]
    pub const fn inner(&self) -> &baler_host::Conversation {
        &self.0
    }

    /// The wire format.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.0.format().name()
    }

    /// Tokens of the whole request.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.0.tokens()
    }

    /// Tokens of the system prompt, the tools and the like, which no compaction changes.
    #[must_use]
    pub fn overhead(&self) -> u32 {
        self.0.overhead()
    }

    /// The vocabulary that counted the tokens.
    #[must_use]
    pub fn tokenizer(&self) -> String {
        self.0.tokenizer().to_string()
    }

    /// Whether the provider has to see the request as it is: it stores the history, or is asked to compact it itself.
    #[must_use]
    pub fn is_the_providers(&self) -> bool {
        self.0.envelope().continues || self.0.asks_to_compact()
    }

    /// Whether a rule of the format is broken so that providers refuse the request.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.0.is_broken()
    }

    /// The request body or the list of messages, as JSON.
    #[must_use]
    pub fn document(&self) -> &str {
        self.0.document()
    }

    /// Number of messages.
    #[must_use]
    pub fn message_count(&self) -> usize {
        self.0.message_count()
    }

    /// The units: for each its `kind`, its `tokens` and the range of its `messages`.
    #[must_use]
    pub fn units(&self) -> Value {
        let units = self.0.units().iter().enumerate().map(|(index, unit)| {
            let messages = self.0.message_range(index);
            json!({
                "kind": unit.kind.name(),
                "tokens": unit.tokens,
                "messages": [messages.start, messages.end],
            })
        });
        Value::from_iter(units)
    }

    /// The broken rules and the repairs: `errors`, `warnings` (numbers), `violations` and `repairs`.
    #[must_use]
    pub fn violations(&self) -> Value {
        let counts = self.0.violation_counts();
        json!({
            "errors": counts.errors,
            "warnings": counts.warnings,
            "violations": listed(self.0.violations()),
            "repairs": self.0.repairs(),
        })
    }

    /// Returns the conversation with its broken rules repaired as far as possible.
    #[must_use]
    pub fn repaired(&self) -> Self {
        Self(self.0.repaired())
    }
}

fn listed(violations: &[Violation]) -> Value {
    let listed = violations.iter().map(|violation| {
        json!({
            "rule": violation.rule,
            "severity": violation.severity,
            "message": violation.message,
            "what": violation.what,
            "remedy": violation.rule.remedy(),
        })
    });
    Value::from_iter(listed)
}
