//! What the local compaction of Codex does: a model writes a summary as a handover, and of the conversation only the newest
//! messages of the user stay.
//!
//! **Source**: openai/codex at 0100b103, `codex-rs/core/src/compact.rs` with `codex-rs/core/templates/compact`
//! (Apache-2.0). Written anew from its behaviour; instruction and header say the same in other words. Compaction on the
//! provider's server, which Codex prefers where there is one, is not part of it.
//!
//! **Defaults**: up to 20,000 tokens of the user's messages stay, newest first; compacts at 90 % of the context window.
//!
//! **Here it differs**: A message that does not fit the 20,000 tokens as a whole goes, unless the host protects it; Codex
//! cuts its middle out. Messages that programs wrote in the user's role do not stay, as there. Protected units stay: pending
//! calls, and outputs that the model has not seen. If a request is too long for the model, the transcript is shortened,
//! where Codex removes the oldest items one by one.

#[cfg(test)]
mod tests;

use baler_gallery_ask::{self as ask, Form, Task};
use baler_strategy::{
    Conversation, Decision, Failure, Limits, Report, Situation, Strategy, UnitKind,
};
use baler_strategy_core::summary::has_users_words;
use serde::Deserialize;

const TASK: &str = "The conversation is compacted at this point. Write a handover for another model that takes over the task \
    and sees, besides your text, only the newest messages of the user. Be short and structured, and tell it:\n\
    - what the user wants\n\
    - how far the work is, and which key decisions were made\n\
    - which circumstances, limits and preferences of the user matter\n\
    - what remains to be done, as clear next steps\n\
    - which data, examples and references it needs to go on";

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The most tokens of the user's messages that stay.
    pub user_message_tokens: u32,
    /// The share of the context window from which on to compact.
    pub threshold: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            user_message_tokens: 20_000,
            threshold: 0.9,
        }
    }
}

/// The strategy.
#[derive(Debug)]
pub struct Codex;

impl Strategy for Codex {
    type Config = Config;
    const NAME: &'static str = "codex";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Keeps the newest messages of the user; a model hands the rest over (local compaction of Codex).";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = ask::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = &ask::METRICS;
    const LIMITS: Limits = ask::LIMITS;

    fn check(config: &Config) -> Result<(), String> {
        ask::check_share("threshold", config.threshold)
    }

    fn should_compact(
        _: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let threshold = ask::share_of_window(situation, config.threshold);
        Ok(ask::decide(situation, threshold))
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let task = Task {
            form: Form::Closing("Write the handover."),
            header: "Another model worked on this task before you. What it did is still in place, such as files that it \
                     changed and tools that it started; build on that, and do not do it again. Its handover:\n\n",
            ..Task::new(TASK, &[])
        };
        let wanted = messages_of_the_user(conversation, config.user_message_tokens);
        ask::compact(conversation, situation, &wanted, task)
    }
}

/// Returns the user's messages, newest first, as long as they have at most `left` tokens together.
fn messages_of_the_user(conversation: &Conversation<'_>, mut left: u32) -> Vec<usize> {
    let units = conversation.units();
    let mut wanted = Vec::new();
    for (index, unit) in units.iter().enumerate().rev() {
        if unit.kind != UnitKind::User || !has_users_words(&conversation.messages(index)) {
            continue;
        }
        let Some(rest) = left.checked_sub(unit.tokens) else {
            break;
        };
        left = rest;
        wanted.push(index);
    }
    wanted
}

baler_strategy::export!(Codex);
