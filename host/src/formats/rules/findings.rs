//! Violations, as they are found.

use super::{Rule, Severity, Violation};
use crate::conversation::message::Message;

/// What checks report to.
#[derive(Default)]
pub(crate) struct Findings {
    rule: Option<Rule>,
    found: Vec<Violation>,
}

impl Findings {
    /// All that follows is about this rule.
    pub(super) fn of(&mut self, rule: Rule) {
        self.rule = Some(rule);
    }

    /// Reports what the readers of messages saw that breaks the rule.
    pub(crate) fn add_flaws(&mut self, messages: &[Message]) {
        for (index, message) in messages.iter().enumerate() {
            for flaw in message.flaws() {
                if Some(flaw.rule) == self.rule {
                    self.push(index + 1, flaw.severity, flaw.what.to_owned());
                }
            }
        }
    }

    /// Something is wrong in the message with this index.
    pub(crate) fn add(&mut self, index: usize, what: impl Into<String>) {
        self.push(index + 1, Severity::Error, what.into());
    }

    /// Something in the message with this index may be wrong: no provider is known to refuse it.
    pub(crate) fn warn(&mut self, index: usize, what: impl Into<String>) {
        self.push(index + 1, Severity::Warning, what.into());
    }

    /// Something in the message with this index is wrong, or may be.
    pub(crate) fn note(&mut self, severity: Severity, index: usize, what: impl Into<String>) {
        self.push(index + 1, severity, what.into());
    }

    /// Something is wrong with the conversation as a whole.
    pub(crate) fn add_to_whole(&mut self, what: impl Into<String>) {
        self.push(0, Severity::Error, what.into());
    }

    /// Something about the conversation as a whole may be wrong.
    pub(crate) fn warn_of_whole(&mut self, what: impl Into<String>) {
        self.push(0, Severity::Warning, what.into());
    }

    fn push(&mut self, message: usize, severity: Severity, what: String) {
        if let Some(rule) = self.rule {
            self.found.push(Violation {
                rule,
                severity,
                message,
                what,
            });
        }
    }

    /// The findings, each place and rule once, in order.
    pub(super) fn finish(mut self) -> Vec<Violation> {
        self.found.sort_by_key(|found| (found.message, found.rule));
        self.found.dedup();
        self.found
    }
}
