//! A filter before a strategy: secrets and addresses become `[redacted]`.
//!
//! The strategy behind reads `[redacted]` in place of each, in all texts, so neither its summaries nor its questions to a model
//! can show them. In tool outputs that its plan keeps, this filter writes `[redacted]` as well. A plan cannot
//! change what the user wrote, arguments of calls, or outputs that the model has not seen: secrets in these
//! stay as long as their unit, and the metric `secrets-left` counts them.

mod config;
mod find;
mod hidden;
mod smaller;
mod revise;

#[cfg(test)]
mod tests;

use baler_strategy::{
    Content, Conversation, Failure, Filter, Outcome, Part, Report, Shown, Situation, Trigger,
};

pub use config::{Address, Config};
use hidden::Hidden;

/// The filter.
#[derive(Debug)]
pub struct Redact;

impl Filter for Redact {
    type Config = Config;
    const NAME: &'static str = "redact";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Replaces secrets and addresses in what the strategy reads, and in tool outputs that stay.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = &["redacted", "secret"];
    const METRIC_NAMES: &'static [&'static str] = &[
        "outputs-redacted",
        "units-with-secrets-removed",
        "secrets-left",
    ];

    fn check(config: &Config) -> Result<(), String> {
        config.check()
    }

    fn show(conversation: &Conversation<'_>, config: &Config) -> Vec<Shown> {
        let mut shown = Vec::new();
        for (unit, messages) in conversation.read(0..conversation.units().len()) {
            for (message, own) in messages.iter().enumerate() {
                for (part, own) in own.parts.iter().enumerate() {
                    let hidden = text_of(own).and_then(|text| Hidden::of(text, config));
                    shown.extend(hidden.map(|hidden| Shown {
                        unit: number(unit),
                        message: number(message),
                        part: number(part),
                        text: hidden.text(),
                    }));
                }
            }
        }
        shown
    }

    fn situation(situation: &Situation, config: &Config) -> Situation {
        let hide = |text: &str| match Hidden::of(text, config) {
            Some(hidden) => hidden.text(),
            None => text.to_owned(),
        };
        let mut situation = situation.clone();
        situation.context = hide(&situation.context);
        if let Trigger::Manual(Some(wish)) = &mut situation.trigger {
            *wish = hide(wish);
        }
        situation
    }

    fn revise(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
        shown: &[Shown],
        report: Report,
    ) -> Result<Report, Failure> {
        let Outcome::Compacted(plan) = report.outcome else {
            return Ok(report);
        };
        let revised = revise::revise(conversation, situation, config, shown, plan)?;
        let mut report = Report {
            outcome: Outcome::Compacted(revised.plan),
            ..report
        };
        for (name, count) in Self::METRIC_NAMES.iter().zip(revised.counts) {
            report = report.with_count(name, count);
        }
        Ok(report)
    }
}

/// Returns the text of a part that a strategy reads.
fn text_of(part: &Part) -> Option<&str> {
    match &part.content {
        Content::Text(text) | Content::Thinking(text) => Some(text),
        Content::Call(call) => Some(&call.arguments),
        Content::Output(output) => Some(&output.text),
        Content::Media(_) | Content::Opaque(_) => None,
    }
}

/// Converts an index to the 32 bits of the contract. No conversation has more units, messages or parts.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

baler_strategy::export_filter!(Redact);
