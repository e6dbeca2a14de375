//! Violations, as they are found.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::ViolationCounts;
use crate::listed::Listed;
use crate::model::message::Message;
use crate::model::rule::{Rule, Severity, Violation};

/// What comes first where not all is listed: what the conversation is refused for.
type Order = (Reverse<bool>, Severity, usize, Rule);

/// What checks report to.
pub(crate) struct Findings {
    rule: Option<Rule>,
    listed: Listed<Violation, Order>,
    counts: ViolationCounts,
    warned: BTreeSet<(Rule, &'static str)>,
    /// The messages of which each thing was said about the rule so far.
    said: HashMap<(Severity, &'static str), HashSet<usize>>,
    /// The newest thing said about the rule that is not the same for all messages.
    newest: Option<(usize, String)>,
}

/// What checks found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// By message and rule; not all of them (`crate::listed::MAX_LISTED`). Where one is fatal, one that is
    /// fatal is listed; where one is an error, no warning stands in the place of an error.
    pub(crate) listed: Vec<Violation>,
    pub(crate) counts: ViolationCounts,
    /// All that was warned of, each once, whatever is listed.
    pub(crate) warned: BTreeSet<(Rule, &'static str)>,
}

impl Default for Findings {
    fn default() -> Self {
        Self {
            rule: None,
            listed: Listed::by(|own: &Violation| {
                let is_fatal = Reverse(own.is_fatal());
                (is_fatal, own.severity, own.message, own.rule)
            }),
            counts: ViolationCounts::default(),
            warned: BTreeSet::new(),
            said: HashMap::new(),
            newest: None,
        }
    }
}

impl Findings {
    /// All that follows is about this rule.
    pub(super) fn of(&mut self, rule: Rule) {
        self.rule = Some(rule);
        self.said.clear();
        self.newest = None;
    }

    /// Reports what the readers of messages saw that breaks the rule.
    pub(crate) fn add_flaws(&mut self, messages: &[Message]) {
        for (index, message) in messages.iter().enumerate() {
            for flaw in message.flaws() {
                if Some(flaw.rule) == self.rule {
                    self.note(flaw.severity, index, flaw.what);
                }
            }
        }
    }

    /// Something is wrong in the message with this index.
    pub(crate) fn add(&mut self, index: usize, what: impl Into<Cow<'static, str>>) {
        self.push(index + 1, Severity::Error, what.into());
    }

    /// Something in the message with this index may be wrong: no provider is known to refuse it.
    pub(crate) fn warn(&mut self, index: usize, what: &'static str) {
        self.note(Severity::Warning, index, what);
    }

    /// Something in the message with this index is wrong, or may be.
    pub(crate) fn note(&mut self, severity: Severity, index: usize, what: &'static str) {
        self.push(index + 1, severity, Cow::Borrowed(what));
    }

    /// Something is wrong with the conversation as a whole.
    pub(crate) fn add_to_whole(&mut self, what: impl Into<Cow<'static, str>>) {
        self.push(0, Severity::Error, what.into());
    }

    /// Something about the conversation as a whole may be wrong.
    pub(crate) fn warn_of_whole(&mut self, what: &'static str) {
        self.push(0, Severity::Warning, Cow::Borrowed(what));
    }

    fn push(&mut self, message: usize, severity: Severity, what: Cow<'static, str>) {
        let Some(rule) = self.rule else {
            return;
        };
        let is_new = match &what {
            &Cow::Borrowed(what) => {
                if severity == Severity::Warning {
                    self.warned.insert((rule, what));
                }
                let said = self.said.entry((severity, what)).or_default();
                said.insert(message)
            }
            Cow::Owned(what) => self.is_another(message, what),
        };
        if is_new {
            self.counts.add(rule, severity);
            self.listed.push(Violation {
                rule,
                severity,
                message,
                what,
            });
        }
    }

    /// Whether something that names a size was not said of the message yet: that several pictures of a message have one size is
    /// told once where they follow each other.
    fn is_another(&mut self, message: usize, what: &str) -> bool {
        let newest = self.newest.as_ref();
        let is_known = newest.is_some_and(|(at, said)| *at == message && said == what);
        if !is_known {
            self.newest = Some((message, what.to_owned()));
        }
        !is_known
    }

    /// The findings, each place and rule once, in order.
    pub(super) fn finish(self) -> Found {
        let mut listed = self.listed.finish();
        listed.sort_by_key(|own| (own.message, own.rule));
        Found {
            listed,
            counts: self.counts,
            warned: self.warned,
        }
    }
}
