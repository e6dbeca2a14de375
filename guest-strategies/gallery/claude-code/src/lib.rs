//! What `/compact` of Claude Code does: a model writes a summary in nine sections, and the summary replaces everything.
//!
//! **Source**: Claude Code 2.1, which is not published as source. Its behaviour is known from its documentation
//! (<https://code.claude.com/docs>: `/compact [instructions]`, automatic compaction), from the session logs that it writes,
//! and from what users report (anthropics/claude-code#31806 for the trigger). The names of the nine sections are those of
//! its prompts, as others published them. Of their text nothing else is used: the instruction asks in other words.
//!
//! **Defaults**: compacts when fewer than 33,000 tokens of the context window are free (83.5 % of 200,000), keeps no message
//! word for word, and follows what the user types after `/compact`.
//!
//! **Here it differs**: Protected units stay: the request at hand, words of the user that the host keeps, pending calls and
//! outputs that the model has not seen. The model is not asked for an analysis before the summary, which Claude Code
//! removes again. Files that were read last, plans and lists of tasks are not attached again: a strategy reads nothing but
//! the conversation.

#[cfg(test)]
mod tests;

use baler_gallery_ask::{self as ask, Form, Section, Task};
use baler_strategy::{Conversation, Decision, Failure, Limits, Report, Situation, Strategy};
use serde::Deserialize;

const TASK: &str = "Write a detailed summary of the conversation so far. Go through it from the beginning, and note above \
    all what the user asked for and what the agent did. Keep the technical details, code and decisions without which the \
    work could not go on. What the user said about how the work is done, and wanted to be done differently, must be in it.";

const SECTIONS: &[Section] = &[
    (
        "1. Primary Request and Intent:",
        "everything that the user explicitly asked for, in detail",
    ),
    (
        "2. Key Technical Concepts:",
        "technologies, frameworks and ideas that matter",
    ),
    (
        "3. Files and Code Sections:",
        "files that were read, changed or made, why each matters, what was changed, and the code itself where it is needed, \
         above all from the latest messages",
    ),
    (
        "4. Errors and fixes:",
        "each error, how it was fixed, and what the user said about it",
    ),
    (
        "5. Problem Solving:",
        "problems that were solved, and what is still being looked into",
    ),
    (
        "6. All user messages:",
        "each message that the user wrote, outputs of tools left out",
    ),
    (
        "7. Pending Tasks:",
        "tasks that the user asked for and that are not done",
    ),
    (
        "8. Current Work:",
        "what exactly was being done just now, with names of files and code",
    ),
    (
        "9. Optional Next Step:",
        "the next step, only if it follows from the user's latest request, with a quote of the latest messages that shows \
         where the work stopped",
    ),
];

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The tokens of the context window that should stay free.
    pub reserve_tokens: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            reserve_tokens: 33_000,
        }
    }
}

/// The strategy.
#[derive(Debug)]
pub struct ClaudeCode;

impl Strategy for ClaudeCode {
    type Config = Config;
    const NAME: &'static str = "claude-code";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "A model summarises everything in nine sections (/compact of Claude Code).";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = ask::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = &ask::METRICS;
    const LIMITS: Limits = ask::LIMITS;

    fn should_compact(
        _: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let threshold = ask::window_without(situation, config.reserve_tokens);
        Ok(ask::decide(situation, threshold))
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        _: &Config,
    ) -> Result<Report, Failure> {
        let task = Task {
            form: Form::Closing("Summarize the conversation above, under the nine headings."),
            max_output_tokens: 8_192,
            header: "This session goes on from a conversation that became too long. What was said and done before:\n\n",
            ..Task::new(TASK, SECTIONS)
        };
        ask::compact(conversation, situation, &[], task)
    }
}

baler_strategy::export!(ClaudeCode);
