//! What OpenHands' `LLMSummarizingCondenser` does: keeps the first and the newest events and lets a model summarise those
//! between them.
//!
//! **Source**: openhands-sdk 1.58.2, `openhands/sdk/context/condenser/llm_summarizing_condenser.py`, with the rules of
//! `openhands/sdk/context/view/properties` (MIT). Written anew from its behaviour; the instruction asks in other words for
//! the same sections.
//!
//! **Defaults**: `max-size` 240 events, `keep-first` 2 (the system prompt and the first message of the user). OpenHands'
//! own agents use 80 and 4.
//!
//! **Events**: a message is one event; a step with calls has one event for each call and one for each output. The system
//! prompt is the first event, also where it is not a message.
//!
//! **Cut**: over `max-size` events, half of `max-size` stays, the summary included; on demand, half of the events. Where a
//! cut falls into a step, the step stays at the beginning and goes at the end. Steps with calls from one with thinking on
//! are one block, which is not cut.
//!
//! **Here it differs**: Words of the user that the host protects stay. If what is kept does not fit the budget, the oldest of
//! the newest events are summarised too, and the first ones last; that takes the place of the original's reduction to half
//! of its own limit of tokens. The rule that at least a tenth of the events must go is left to the host, which refuses a
//! result without progress.

mod events;

#[cfg(test)]
mod tests;

use baler_gallery_ask::{self as ask, Section, Task};
use baler_strategy::{
    Conversation, Decision, Failure, Limits, Report, Situation, Strategy, Trigger,
};
use serde::Deserialize;

const TASK: &str = "You keep the state of an agent that works with a user. You read events of its work, and maybe an \
    earlier summary; write one summary of both, from which the agent goes on. Be short. Tell what is done from what is \
    pending, keep the user's requirements, and leave out what does not matter for this kind of task. Keep ids of tasks as \
    they are. The sections after the fifth are for work on code; leave them out otherwise.";

const SECTIONS: &[Section] = &[
    (
        "USER_CONTEXT:",
        "what the user requires, wants and has clarified",
    ),
    (
        "TASK_TRACKING:",
        "active tasks with their exact ids and states; never left out if the events track tasks",
    ),
    ("COMPLETED:", "tasks done so far, with short results"),
    ("PENDING:", "tasks that are still to be done"),
    (
        "CURRENT_STATE:",
        "variables, data and other state that matters now",
    ),
    (
        "CODE_STATE:",
        "paths of files, signatures of functions, data structures",
    ),
    ("TESTS:", "failing cases, error messages, outputs"),
    ("CHANGES:", "edits of code"),
    ("DEPS:", "dependencies, imports, calls to other systems"),
    (
        "VERSION_CONTROL_STATUS:",
        "branch, commits, state of pull requests",
    ),
];

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The most events; more than these are condensed to half.
    pub max_size: u32,
    /// How many of the first events stay.
    pub keep_first: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_size: 240,
            keep_first: 2,
        }
    }
}

/// The strategy.
#[derive(Debug)]
pub struct OpenhandsSummarizing;

impl Strategy for OpenhandsSummarizing {
    type Config = Config;
    const NAME: &'static str = "openhands-summarizing";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Keeps the first and the newest events; a model summarises the middle (OpenHands' LLMSummarizingCondenser).";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = ask::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = &ask::METRICS;
    const LIMITS: Limits = ask::LIMITS;

    fn check(config: &Config) -> Result<(), String> {
        let (size, first) = (config.max_size, config.keep_first);
        if size / 2 <= first.saturating_add(1) {
            return Err(format!(
                "`keep-first` plus 1 must be less than half of `max-size`: {first} and {size}"
            ));
        }
        Ok(())
    }

    fn should_compact(
        conversation: &Conversation<'_>,
        _: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let events = events::total(conversation, &events::numbers(conversation));
        let most = config.max_size;
        Ok(if events > most {
            Decision::Compact(format!("{events} events are more than {most}"))
        } else {
            Decision::HostDecides
        })
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let numbers = events::numbers(conversation);
        let total = events::total(conversation, &numbers);
        let of_size = (total > config.max_size).then_some(config.max_size);
        let of_demand = matches!(situation.trigger, Trigger::Manual(_)).then_some(total);
        // Without either, the budget alone limits what stays.
        let size = of_size.into_iter().chain(of_demand).min();
        let newest = size.map_or(total, |size| {
            (size / 2).saturating_sub(config.keep_first + 1)
        });
        let wanted = events::wanted(conversation, &numbers, config.keep_first, newest);
        let task = Task::new(TASK, SECTIONS);
        ask::compact(conversation, situation, &wanted, task)
    }
}

baler_strategy::export!(OpenhandsSummarizing);
