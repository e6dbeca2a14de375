use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::Deserialize;

/// The config. `config.schema.json` is its JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How many of the newest turns are kept; 3 if neither field is given.
    pub keep_recent_turns: Option<NonZeroU32>,
    /// How many of the newest messages are kept, instead of turns.
    pub keep_recent_messages: Option<NonZeroU32>,
    /// Whether to keep the first message if it is the user's.
    pub keep_initial_user: bool,
    /// When to compact.
    pub trigger: Trigger,
    /// How tokens are counted.
    pub token_counter: TokenCounter,
}

/// When to compact: at more than `turns` turns, or from `tokens` tokens on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, NonZeroU32>")]
pub struct Trigger {
    /// The most turns without compacting.
    pub turns: Option<NonZeroU32>,
    /// The fewest tokens at which to compact.
    pub tokens: Option<NonZeroU32>,
}

/// How tokens are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenCounter {
    /// By the host, for the model in use.
    #[default]
    Host,
    /// A quarter of the characters of each message.
    Quarter,
}

/// How much of the newest part is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Turns(u32),
    Messages(u32),
}

impl Config {
    const TURNS: u32 = 3;
    const TRIGGER_TURNS: NonZeroU32 = NonZeroU32::new(8).expect("it is not zero");

    pub(crate) fn check(&self) -> Result<(), String> {
        match (self.keep_recent_turns, self.keep_recent_messages) {
            (Some(_), Some(_)) => Err(
                "`keep-recent-turns` and `keep-recent-messages` exclude each other: give one"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    pub(crate) fn keep(&self) -> Keep {
        match (self.keep_recent_turns, self.keep_recent_messages) {
            (_, Some(messages)) => Keep::Messages(messages.get()),
            (turns, None) => Keep::Turns(turns.map_or(Self::TURNS, NonZeroU32::get)),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            keep_recent_turns: None,
            keep_recent_messages: None,
            keep_initial_user: true,
            trigger: Trigger {
                turns: Some(Self::TRIGGER_TURNS),
                tokens: None,
            },
            token_counter: TokenCounter::Host,
        }
    }
}

/// Accepts only an object with these fields. A derived reader would also accept a list.
impl TryFrom<BTreeMap<String, NonZeroU32>> for Trigger {
    type Error = String;

    fn try_from(fields: BTreeMap<String, NonZeroU32>) -> Result<Self, String> {
        let mut trigger = Self {
            turns: None,
            tokens: None,
        };
        for (name, value) in fields {
            match name.as_str() {
                "turns" => trigger.turns = Some(value),
                "tokens" => trigger.tokens = Some(value),
                _ => {
                    return Err(format!(
                        "unknown field `{name}`, expected `turns` or `tokens`"
                    ));
                }
            }
        }
        match trigger {
            Self {
                turns: None,
                tokens: None,
            } => Err("expected at least one of `turns` and `tokens`".to_owned()),
            trigger => Ok(trigger),
        }
    }
}
