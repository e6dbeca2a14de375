//! What LangChain's `SummarizationMiddleware` does: keeps the newest messages and lets a model summarise the older ones.
//!
//! **Source**: langchain 1.5.2, `langchain/agents/middleware/summarization.py` (MIT). Written anew from its behaviour; the
//! instruction asks in other words for the same sections.
//!
//! **Defaults**: `keep` 20 messages; no `trigger`; the model reads the newest 4,000 tokens of what is removed, from a
//! message of the user on (`trim_tokens_to_summarize`).
//!
//! **Cut**: a call and its outputs stay together, so a cut that falls on an output moves back to its call. By tokens or by
//! a fraction of the window, as many of the newest messages stay as fit, and at least the newest.
//!
//! **Here it differs**: Words of the user that the host protects stay, where the original summarises them. If what is kept
//! does not fit the budget, its oldest units are summarised too. An earlier summary always reaches the model; the original
//! loses it when the 4,000 tokens are used up. If no message of the user is among these tokens, the model reads them all the
//! same, where the original inserts a sentence instead of a summary. Instruction and transcript are two messages. Without a
//! `trigger` the host decides, where the original never compacts.

mod config;

#[cfg(test)]
mod tests;

use baler_gallery_ask::{self as ask, Section, Task};
use baler_strategy::{
    Conversation, Decision, Failure, Limits, Report, Situation, Strategy, UnitKind,
};

pub use config::{Clause, Config, Size};

const TASK: &str = "The conversation becomes too long for its agent. Extract from it what matters most for the overall goal. \
    Your text replaces the messages that you read, and the agent goes on from it, so that nothing that is done already is \
    done again. Where a section has nothing to report, write `None`.";

const SECTIONS: &[Section] = &[
    (
        "## SESSION INTENT",
        "the user's main goal or request, short, but enough to understand what the whole session is for",
    ),
    (
        "## SUMMARY",
        "the most important choices, conclusions and plans, with the reasons for key decisions, and what was rejected and why",
    ),
    (
        "## ARTIFACTS",
        "files and other resources that were made, changed or read, with exact paths, and what was changed in each",
    ),
    (
        "## NEXT STEPS",
        "what remains to be done for the goal, and what comes next",
    ),
];

/// The strategy.
#[derive(Debug)]
pub struct LangchainSummarization;

impl Strategy for LangchainSummarization {
    type Config = Config;
    const NAME: &'static str = "langchain-summarization";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Keeps the newest messages; a model summarises the rest (LangChain's SummarizationMiddleware).";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = ask::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = &ask::METRICS;
    const LIMITS: Limits = ask::LIMITS;

    fn check(config: &Config) -> Result<(), String> {
        config.check()
    }

    fn should_compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        if config.trigger.is_empty() {
            return Ok(Decision::HostDecides);
        }
        let units = conversation.units().iter();
        let units = units.filter(|unit| unit.kind != UnitKind::Instructions);
        let messages = units.map(|unit| unit.messages).sum();
        let is_met = |clause: &Clause| clause.is_met(messages, situation);
        let reason = format!("{messages} messages, {} tokens in use", situation.used);
        Ok(match config.trigger.iter().any(is_met) {
            true => Decision::Compact(reason),
            false => Decision::Wait(reason),
        })
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let first = config.first_kept(conversation, situation);
        let task = Task {
            max_input_tokens: config.trim_tokens_to_summarize.unwrap_or(u32::MAX),
            header: "Here is a summary of the conversation to date:\n\n",
            ..Task::new(TASK, SECTIONS)
        };
        ask::compact(
            conversation,
            situation,
            &ask::newest_first(conversation, first),
            task,
        )
    }
}

baler_strategy::export!(LangchainSummarization);
