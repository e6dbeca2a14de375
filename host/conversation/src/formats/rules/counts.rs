//! How often rules are broken.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::rule::{Rule, Severity};

/// At how many places a conversation breaks rules. All of them are counted, however many are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ViolationCounts {
    /// All places.
    pub total: usize,
    /// Places for which the request is refused.
    pub errors: usize,
    /// Places of which no refusal is known.
    pub warnings: usize,
    /// The same for each rule that is broken.
    pub rules: Vec<RuleCounts>,
}

/// At how many places a conversation breaks one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleCounts {
    /// Which rule.
    pub rule: Rule,
    /// Places for which the request is refused.
    pub errors: usize,
    /// Places of which no refusal is known.
    pub warnings: usize,
}

impl ViolationCounts {
    /// Places that make the conversation unfit for its provider, whatever is left out
    /// ([`crate::model::rule::Violation::is_fatal`]).
    #[must_use]
    pub fn fatal(&self) -> usize {
        let rules = self.rules.iter().filter(|own| !own.rule.is_about_size());
        rules.map(|own| own.errors).sum()
    }

    /// Whether a rule is broken.
    pub(crate) fn names(&self, rule: Rule) -> bool {
        self.rules.iter().any(|own| own.rule == rule)
    }

    pub(super) fn add(&mut self, rule: Rule, severity: Severity) {
        let at = match self.rules.binary_search_by_key(&rule, |own| own.rule) {
            Ok(at) => at,
            Err(at) => {
                let none = RuleCounts {
                    rule,
                    errors: 0,
                    warnings: 0,
                };
                self.rules.insert(at, none);
                at
            }
        };
        let own = &mut self.rules[at];
        let (of_rule, of_all) = match severity {
            Severity::Error => (&mut own.errors, &mut self.errors),
            Severity::Warning => (&mut own.warnings, &mut self.warnings),
        };
        *of_rule += 1;
        *of_all += 1;
        self.total += 1;
    }
}

impl RuleCounts {
    /// Places of one severity.
    #[must_use]
    pub const fn of(&self, severity: Severity) -> usize {
        match severity {
            Severity::Error => self.errors,
            Severity::Warning => self.warnings,
        }
    }
}
