//! What pruning and compaction of opencode do: outputs of tools behind the newest 40,000 tokens of them are cleared, and if
//! that is not enough, a model summarises everything but the newest turns.
//!
//! **Source**: sst/opencode at 31e22f65, `packages/opencode/src/session/compaction.ts` and `overflow.ts`, with the template
//! in `packages/core/src/session/compaction-suffix.ts` (MIT). Written anew from its behaviour; the instruction asks in other
//! words for the same sections.
//!
//! **Defaults**: `prune` (there only if it is configured), 40,000 tokens of outputs protected, more than 20,000 to be saved;
//! a quarter of the usable window stays, but 2,000 to 15,000 tokens; usable is the window without 32,000 tokens for the
//! answer and 20,000 in reserve. Compacts when these are used up.
//!
//! **Cut**: as many of the newest turns stay as fit, and of the turn before them the newest steps that still fit; if all
//! turns fit, none stays. Outputs of the newest two turns, of the tool `skill`, of failed calls, and those before a summary
//! are not cleared.
//!
//! **Here it differs**: Words of the user that the host protects stay, and so do outputs that the host's policy does not let
//! a strategy rewrite. If what is kept does not fit the budget, its oldest units are summarised too. The summary is a message
//! of the user; no question stands before it and no request to continue behind it.

mod prune;

#[cfg(test)]
mod tests;

use baler_gallery_ask::{self as ask, Section, Task};
use baler_strategy::{
    Conversation, Decision, Failure, Limits, Report, Situation, Strategy, Unit, UnitKind,
};
use serde::Deserialize;

const TASK: &str = "Write a summary of the conversation from which another coding agent goes on with the work. Write short \
    bullet points and no paragraphs. Keep every section, with `(none)` if it has nothing to say. Keep paths, symbols, \
    commands, error messages, addresses and identifiers exactly as they are. Do not mention that this is a summary.";

const UPDATE: &str = "The earlier summary tells what came before, and will be gone: carry over goals, limits, wishes of the \
    user and decisions from it, even if the conversation does not mention them. Where both disagree, the conversation is \
    right. Move what was finished from Active to Completed, and drop blockers that were solved.";

const SECTIONS: &[Section] = &[
    (
        "## Objective",
        "what the user wants, in one or two sentences",
    ),
    (
        "## Important Details",
        "limits, preferences, decisions and their reasons, facts and assumptions",
    ),
    ("## Work State", "nothing of its own, only the next three"),
    ("### Completed", "finished work and verified facts"),
    ("### Active", "work at hand and partial changes"),
    (
        "### Blocked",
        "what blocks the work, commands that fail, open questions",
    ),
    (
        "## Next Move",
        "a numbered list that begins with the immediate next action",
    ),
    (
        "## Relevant Files",
        "files and folders, and why each matters",
    ),
];

/// The tokens that opencode plans for an answer.
const ANSWER: u32 = 32_000;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Whether old outputs are cleared first.
    pub prune: bool,
    /// The tokens of the newest turns that stay. `None`: a quarter of the usable window, but 2,000 to 15,000.
    pub preserve_recent_tokens: Option<u32>,
    /// The most turns that stay. `None`: as many as fit.
    pub tail_turns: Option<u32>,
    /// The tokens of the window in reserve.
    pub reserved: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            prune: true,
            preserve_recent_tokens: None,
            tail_turns: None,
            reserved: 20_000,
        }
    }
}

/// The strategy.
#[derive(Debug)]
pub struct Opencode;

impl Strategy for Opencode {
    type Config = Config;
    const NAME: &'static str = "opencode";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Clears old outputs; if needed, a model summarises all but the newest turns (opencode).";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = &["kept", "earlier", "summarized", "pruned"];
    const METRIC_NAMES: &'static [&'static str] = &ask::METRICS;
    const LIMITS: Limits = ask::LIMITS;

    fn should_compact(
        _: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Decision, Failure> {
        Ok(ask::decide(situation, config.usable(situation)))
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        if config.prune
            && let Some(report) = prune::report(conversation, situation)?
        {
            return Ok(report);
        }
        let first = config.first_kept(conversation.units(), situation);
        let task = Task {
            update: UPDATE,
            ..Task::new(TASK, SECTIONS)
        };
        let wanted = ask::newest_first(conversation, first);
        ask::compact(conversation, situation, &wanted, task)
    }
}

impl Config {
    /// Returns the tokens from which on to compact, `None` if the window is not known.
    fn usable(&self, situation: &Situation) -> Option<u32> {
        ask::window_without(situation, self.reserved.saturating_add(ANSWER))
    }

    /// Returns the index of the first unit to keep.
    fn first_kept(&self, units: &[Unit], situation: &Situation) -> usize {
        let quarter = self.usable(situation).unwrap_or(0) / 4;
        let mut left = self
            .preserve_recent_tokens
            .unwrap_or(quarter.clamp(2_000, 15_000));
        let mut turns = self.tail_turns.unwrap_or(u32::MAX);
        let mut first = units.len();
        for start in (0..units.len()).rev() {
            if turns == 0 || units[start].kind != UnitKind::User {
                continue;
            }
            // The turn, from its message to the next one's.
            let turn = &units[start..first];
            let size = turn
                .iter()
                .map(|unit| unit.tokens)
                .fold(0, u32::saturating_add);
            let Some(rest) = left.checked_sub(size) else {
                // Its message alone would not be worth a cut.
                return first - steps_within(&turn[1..], left);
            };
            (left, first, turns) = (rest, start, turns - 1);
        }
        let is_all = units[..first]
            .iter()
            .all(|unit| unit.kind == UnitKind::Instructions);
        if is_all { units.len() } else { first }
    }
}

/// Returns how many of the newest units fit.
fn steps_within(units: &[Unit], mut left: u32) -> usize {
    let fits = |unit: &&Unit| match left.checked_sub(unit.tokens) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    units.iter().rev().take_while(fits).count()
}

baler_strategy::export!(Opencode);
