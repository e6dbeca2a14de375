//! Searches the config with which a strategy keeps most of a corpus.
//!
//! Configs come from the strategy's own JSON Schema ([`configs`]). They are compared by successive halving
//! (Jamieson and Talwalkar, 2016): all of them on a few conversations, the better third of them on three times as
//! many, and so on until the best are measured on all. What the choice gains is then estimated by cross-validation:
//! for each fifth of the conversations, the config is chosen that is best on the others, and compared with the
//! default on that fifth.

mod search;
mod space;

use std::time::Instant;

use baler_host::{Pins, Strategy};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::measure::Measurement;
use crate::statistics::Interval;

pub use search::tune;
pub use space::{Space, configs};

/// What a config is judged by: the mean of a figure over cuts and budgets, from 0 to 1.
///
/// ```
/// assert_eq!("in-context".parse(), Ok(baler_eval::Goal::InContext));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Recall.
    Recall,
    /// Recall in context.
    InContext,
    /// What was done last with files and ids.
    State,
    /// Answers to the questions of a set.
    Answers,
}

impl Goal {
    /// All goals.
    pub const ALL: [Self; 4] = [Self::Recall, Self::InContext, Self::State, Self::Answers];

    /// Returns the name of the figure in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::InContext => "in-context",
            Self::State => "state",
            Self::Answers => "answers",
        }
    }

    const fn of(self, measured: &Measurement) -> Option<f64> {
        match self {
            Self::Recall => measured.recall,
            Self::InContext => measured.in_context,
            Self::State => measured.state,
            Self::Answers => measured.answers,
        }
    }
}

impl std::str::FromStr for Goal {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|goal| goal.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            format!("expected one of {}", names.join(", "))
        })
    }
}

/// How to search.
///
/// ```
/// assert_eq!(baler_eval::TuneOptions::default().budgets, [0.1, 0.25]);
/// ```
#[derive(Debug, Clone)]
pub struct TuneOptions {
    /// The budgets, as shares of the history.
    pub budgets: Vec<f64>,
    /// What strategies must keep.
    pub pins: Pins,
    /// What a config is judged by.
    pub goal: Goal,
    /// The number of conversations that are measured at the same time.
    pub threads: usize,
    /// When to stop; what was measured until then decides.
    pub deadline: Option<Instant>,
}

impl Default for TuneOptions {
    fn default() -> Self {
        Self {
            budgets: vec![0.1, 0.25],
            pins: Pins::None,
            goal: Goal::InContext,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            deadline: None,
        }
    }
}

/// A config, with the strategy that has it.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The config; an empty object is the default.
    pub config: Value,
    /// The strategy with this config.
    pub strategy: Strategy,
}

/// The score of a config on one conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The config.
    pub config: Value,
    /// The content hash of the recording.
    pub conversation: String,
    /// The mean of the figure; `None` if the conversation does not have it.
    pub score: Option<f64>,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Tuned {
    /// The best config, and its mean with a 95 % interval over conversations.
    pub best: Scored,
    /// The default config.
    pub default: Scored,
    /// What choosing gains over the default, by cross-validation: the mean difference with its 95 % interval.
    pub gain: Interval,
    /// All configs that were measured on all conversations, the best first, the default among them.
    pub finalists: Vec<Scored>,
    /// The number of configs that were compared.
    pub tried: usize,
    /// Whether the time was over before all was measured.
    pub is_cut_short: bool,
}

impl Tuned {
    /// Whether the gain may be noise: its interval holds 0, there are too few conversations for one, or the best
    /// config is the default.
    #[must_use]
    pub fn is_noise(&self) -> bool {
        self.gain.low <= 0.0
            || self.gain.conversations < search::FOLDS
            || self.best.config == self.default.config
    }
}

/// A config with its score.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The config.
    pub config: Value,
    /// Its mean.
    pub mean: Interval,
}
