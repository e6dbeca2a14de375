//! What the compaction of the pi coding agent does: keeps about 20,000 tokens of the newest messages, and lets a model write
//! the rest as a checkpoint, or bring the last checkpoint up to date. Lists of the files that were read and changed follow.
//!
//! **Source**: badlogic/pi-mono 0.58.3 at 83378aad, `packages/coding-agent/src/core/compaction` (MIT). Written anew
//! from its behaviour; the instruction asks in other words for the same sections.
//!
//! **Defaults**: `keep-recent-tokens` 20,000; compacts when fewer than 16,384 tokens of the window are free
//! (`reserve-tokens`), and the summary may have 80 % of these.
//!
//! **Cut**: back from the newest message until `keep-recent-tokens` are reached; the message that reaches them stays, unless
//! it is an output, whose call stays behind then. A cut may divide a turn.
//!
//! **Here it differs**: Words of the user that the host protects stay. If what is kept does not fit the budget, its oldest
//! units are summarised too. Where the cut divides a turn, the same request asks for that turn's sections; pi sends a second
//! one. The lists of files have at most a quarter of the summary's room, the newest files first.

mod files;

#[cfg(test)]
mod tests;

use baler_gallery_ask::{self as ask, Section, Task};
use baler_strategy::{
    Conversation, Decision, Failure, Limits, Report, Situation, Strategy, Unit, UnitKind,
};
use serde::Deserialize;

const TASK: &str = "Write a checkpoint of this conversation between a user and a coding agent, from which another model goes on \
    with the work. Keep each section short, and keep paths, names of functions and error messages exactly as they are.";

const UPDATE: &str = "There is an earlier checkpoint, and the conversation is what came after it. Bring the checkpoint up to \
    date: keep what it says, add what is new, move what was finished from In Progress to Done, and set new next steps. Leave \
    out only what no longer matters.";

const SECTIONS: &[Section] = &[
    ("## Goal", "what the user wants; several goals if there are"),
    (
        "## Constraints & Preferences",
        "a list of what the user requires or prefers, or `(none)`",
    ),
    ("## Progress", "nothing of its own, only the next three"),
    ("### Done", "finished work, as `- [x]`"),
    ("### In Progress", "work at hand, as `- [ ]`"),
    ("### Blocked", "what stands in the way, if anything"),
    (
        "## Key Decisions",
        "a list of decisions in bold, each with its reason",
    ),
    ("## Next Steps", "a numbered list of what comes next"),
    (
        "## Critical Context",
        "data, examples and references that are needed to go on, or `(none)`",
    ),
];

/// The sections about a turn of which only the end stays.
const OF_TURN: &[Section] = &[
    (
        "## Original Request",
        "what the user asked for in the last turn of the conversation, whose end you do not see",
    ),
    (
        "## Early Progress",
        "decisions and work in the part of that turn that you see",
    ),
    (
        "## Context for Suffix",
        "what one must know to understand the rest of that turn",
    ),
];

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// About how many tokens of the newest messages stay.
    pub keep_recent_tokens: u32,
    /// The tokens of the window that should stay free.
    pub reserve_tokens: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            keep_recent_tokens: 20_000,
            reserve_tokens: 16_384,
        }
    }
}

/// The strategy.
#[derive(Debug)]
pub struct Pi;

impl Strategy for Pi {
    type Config = Config;
    const NAME: &'static str = "pi";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "Keeps about 20,000 newest tokens; a model writes or updates a checkpoint of the rest (the pi coding agent).";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = ask::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = &ask::METRICS;
    const LIMITS: Limits = ask::LIMITS;

    fn check(config: &Config) -> Result<(), String> {
        match config.reserve_tokens {
            0..80 => Err(format!(
                "`reserve-tokens` must be at least 80: {}",
                config.reserve_tokens
            )),
            _ => Ok(()),
        }
    }

    fn should_compact(
        _: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        let threshold = ask::window_without(situation, config.reserve_tokens);
        Ok(ask::decide(situation, threshold.map(|most| most + 1)))
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let task = Task {
            update: UPDATE,
            max_output_tokens: config.reserve_tokens / 5 * 4,
            header: "The conversation before this point was long. This is its checkpoint:\n\n",
            tag: "summary",
            ..Task::new(TASK, SECTIONS)
        };
        let with_turn = [SECTIONS, OF_TURN].concat();
        let first = cut(conversation, config.keep_recent_tokens);
        let wanted = ask::newest_first(conversation, first);
        ask::compact_with(
            conversation,
            situation,
            &wanted,
            task,
            |removed, room, task| {
                if divides_turn(conversation.units(), removed) {
                    task.sections = &with_turn;
                }
                task.footer = files::lists(conversation, removed, room / 4);
            },
        )
    }
}

/// Returns whether the newest removed unit is in a turn of which the end stays.
fn divides_turn(units: &[Unit], removed: &[usize]) -> bool {
    let Some(newest) = removed.last() else {
        return false;
    };
    let is_user = |unit: &Unit| unit.kind == UnitKind::User;
    let goes_on = units
        .get(newest + 1)
        .is_some_and(|next| next.kind == UnitKind::Step);
    goes_on && units[..*newest].iter().any(is_user)
}

/// Returns the index of the first unit to keep. As in pi, what a format adds to each message does not count.
fn cut(conversation: &Conversation<'_>, keep: u32) -> usize {
    let mut left = keep;
    for (index, unit) in conversation.units().iter().enumerate().rev() {
        if unit.kind == UnitKind::Instructions {
            continue;
        }
        for (place, message) in conversation.messages(index).iter().enumerate().rev() {
            let tokens = message.parts.iter().map(|part| part.tokens);
            match left.checked_sub(tokens.fold(0, u32::saturating_add)) {
                Some(rest) if rest > 0 => left = rest,
                // An output does not stay without its call.
                _ if place > 0 => return index + 1,
                _ => return index,
            }
        }
    }
    0
}

baler_strategy::export!(Pi);
