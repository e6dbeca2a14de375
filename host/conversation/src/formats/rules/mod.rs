//! The rules of the wire formats that a conversation can break.
//!
//! A rule is a [`Check`]: a function that looks at a whole conversation and can report nothing
//! but its own rule. Each format lists its own.

pub(crate) mod common;
mod counts;
mod findings;
#[cfg(test)]
pub(crate) mod tests;

use super::limits::ProviderLimits;
use crate::model::document::Document;
use crate::model::envelope::Envelope;
use crate::model::format::Format;
use crate::model::message::Message;
use crate::model::rule::Rule;
pub use counts::{RuleCounts, ViolationCounts};
pub(crate) use findings::{Findings, Found};

/// What checks look at.
pub(crate) struct View<'a> {
    pub(crate) document: &'a Document,
    pub(crate) messages: &'a [Message],
    /// Number of messages of each unit.
    pub(crate) units: &'a [usize],
    pub(crate) envelope: &'a Envelope,
    pub(crate) limits: ProviderLimits,
    /// Bytes of the whole document.
    pub(crate) bytes: usize,
}

/// A rule, and how it is checked.
pub(crate) type Check = (Rule, fn(&View<'_>, &mut Findings));

/// Every place where a rule of a format is broken, by message and rule.
pub(crate) fn violations(format: Format, view: &View<'_>) -> Found {
    let mut found = Findings::default();
    for (rule, check) in format.facts().checks {
        found.of(*rule);
        check(view, &mut found);
    }
    found.finish()
}

/// Units of these numbers of messages, each with the index of its first message.
pub(crate) fn units<'a>(
    messages: &'a [Message],
    lengths: &'a [usize],
) -> impl Iterator<Item = (usize, &'a [Message])> {
    lengths.iter().scan(0, move |at, length| {
        let start = *at;
        *at += length;
        Some((start, messages.get(start..*at).unwrap_or_default()))
    })
}

impl<'a> View<'a> {
    /// The units, each with the index of its first message.
    pub(crate) fn units(&self) -> impl Iterator<Item = (usize, &'a [Message])> {
        units(self.messages, self.units)
    }

    /// Whether the unit that begins at this message is the last one, whose calls may be pending.
    pub(crate) fn is_last(&self, start: usize, unit: &[Message]) -> bool {
        start + unit.len() == self.messages.len()
    }
}
