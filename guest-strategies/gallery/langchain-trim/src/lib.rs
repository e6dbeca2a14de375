//! LangChain's `trim_messages`: the last messages that fit, or the first.
//!
//! **Source**: langchain-core 1.8.3, `langchain_core/messages/utils.py` (MIT).
//!
//! **Defaults**: `strategy` `last`, no `start-on`, no `end-on`. `max-tokens`, which the original requires, is the budget
//! unless the config says otherwise.
//!
//! **Here it differs**:
//! - Instructions always stay, as with `include_system=True`, and so do protected units: the task, the user's words,
//!   calls and outputs that the model has not answered. If they and the window exceed the budget, the window gives way.
//! - A step is kept with all its outputs or not at all. The original cuts between them, and with `allow_partial` in
//!   the middle of a text, which has no counterpart here. Where `end_on` would end in the middle of a step, the whole
//!   step goes.
//! - The tools' definitions count, as they do for a provider.

use baler_gallery::Draft;
use baler_strategy::{
    Conversation, Failure, FreeBudget, Report, Situation, Strategy, Traits, Unit, UnitKind,
};
use serde::Deserialize;

/// The strategy.
#[derive(Debug)]
pub struct LangchainTrim;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Whether the last messages stay or the first.
    pub strategy: Side,
    /// How much stays, in what `token-counter` counts.
    pub max_tokens: Option<u32>,
    /// What `max-tokens` counts.
    pub token_counter: Counter,
    /// The types of message with which the result may begin, after instructions. Empty: any.
    pub start_on: Vec<Type>,
    /// The types of message with which the result may end. Empty: any.
    pub end_on: Vec<Type>,
}

/// Which messages stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The last ones.
    #[default]
    Last,
    /// The first ones.
    First,
}

/// What is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counter {
    /// Tokens, as the host counts them.
    #[default]
    Tokens,
    /// Messages, as with `token_counter=len`.
    Messages,
}

/// A type of message, by its name in LangChain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Type {
    /// A message of the user.
    Human,
    /// A message of the model.
    Ai,
    /// An output.
    Tool,
}

impl Strategy for LangchainTrim {
    type Config = Config;
    const NAME: &'static str = "langchain-trim";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str =
        "Keeps the last (or first) messages that fit, as LangChain's trim_messages does.";
    const CONFIG_SCHEMA: &'static str = include_str!("../config.schema.json");
    const REASON_CODES: &'static [&'static str] = Draft::REASON_CODES;
    const METRIC_NAMES: &'static [&'static str] = Draft::METRIC_NAMES;

    fn check(config: &Config) -> Result<(), String> {
        if config.strategy == Side::First && !config.start_on.is_empty() {
            return Err(
                "`start-on` needs `\"strategy\": \"last\"`, but it is `\"first\"`".to_owned(),
            );
        }
        if config.token_counter == Counter::Messages && config.max_tokens.is_none() {
            return Err(
                "`\"token-counter\": \"messages\"` needs `max-tokens`, the number of messages; there is none"
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn compact(
        conversation: &Conversation<'_>,
        situation: &Situation,
        config: &Config,
    ) -> Result<Report, Failure> {
        let units = conversation.units();
        let window = window(units, situation, config);
        let mut draft = Draft::new(conversation, situation);
        draft.retain(|index, _| window.contains(&index));
        draft.report()
    }
}

/// Returns the units that stay, besides instructions.
fn window(units: &[Unit], situation: &Situation, config: &Config) -> std::ops::Range<usize> {
    let (mut start, mut end) = (0, units.len());
    let ends =
        |end: usize| config.end_on.is_empty() || config.end_on.contains(&last(&units[end - 1]));
    let starts = |start: usize| {
        config.start_on.is_empty() || config.start_on.contains(&first(&units[start]))
    };
    let is_instructions = |unit: &Unit| unit.kind == UnitKind::Instructions;
    let cost = |unit: &Unit| match config.token_counter {
        Counter::Tokens => unit.cost(),
        Counter::Messages if is_instructions(unit) => 0,
        Counter::Messages => u64::from(unit.messages),
    };
    let max = u64::from(config.max_tokens.unwrap_or(situation.budget));
    let overhead = match config.token_counter {
        Counter::Tokens => u64::from(situation.overhead),
        Counter::Messages => units.iter().filter(|unit| is_instructions(unit)).count() as u64,
    };
    let mut left = max.saturating_sub(overhead);
    let mut fits = |unit: &Unit| {
        let rest = left.checked_sub(cost(unit));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    if config.strategy == Side::First {
        // Protected units of the end need their place too, and the oldest units are not those to give way.
        let mut free = FreeBudget::after_protected(situation, units);
        let mut fits = |unit: &Unit| fits(unit) && (unit.is_protected() || free.take(unit));
        end = units.iter().take_while(|unit| fits(unit)).count();
    }
    while end > 0 && !ends(end) {
        end -= 1;
    }
    if config.strategy == Side::Last {
        start = end
            - units[..end]
                .iter()
                .rev()
                .take_while(|unit| fits(unit))
                .count();
        while start < end && !starts(start) {
            start += 1;
        }
    }
    start..end
}

/// Returns the type of a unit's first message.
fn first(unit: &Unit) -> Type {
    match unit.kind {
        UnitKind::Step => Type::Ai,
        UnitKind::Other => Type::Tool,
        UnitKind::User | UnitKind::Summary | UnitKind::Instructions => Type::Human,
    }
}

/// Returns the type of a unit's last message.
fn last(unit: &Unit) -> Type {
    let has_outputs = unit.traits.contains(Traits::CALLS) && unit.messages > 1;
    match unit.kind {
        UnitKind::Step if has_outputs => Type::Tool,
        _ => first(unit),
    }
}

#[cfg(test)]
mod tests;

baler_strategy::export!(LangchainTrim);
