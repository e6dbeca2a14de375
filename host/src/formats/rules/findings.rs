//! Violations, as they are found.

use super::{Rule, Violation};
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
            for flaw in &message.flaws {
                if Some(flaw.rule) == self.rule {
                    self.add(index, flaw.what);
                }
            }
        }
    }

    /// Something is wrong in the message with this index.
    pub(crate) fn add(&mut self, index: usize, what: impl Into<String>) {
        self.push(index + 1, what.into());
    }

    /// Something is wrong with the conversation as a whole.
    pub(crate) fn add_to_whole(&mut self, what: impl Into<String>) {
        self.push(0, what.into());
    }

    fn push(&mut self, message: usize, what: String) {
        if let Some(rule) = self.rule {
            self.found.push(Violation {
                rule,
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
