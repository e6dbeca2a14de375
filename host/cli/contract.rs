//! The contract between strategies and their hosts, as this program supports it.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Its files, by name.
pub(crate) const FILES: [(&str, &str); 4] = [
    ("history.wit", include_str!("../../wit/v0.1/history.wit")),
    ("services.wit", include_str!("../../wit/v0.1/services.wit")),
    ("strategy.wit", include_str!("../../wit/v0.1/strategy.wit")),
    ("worlds.wit", include_str!("../../wit/v0.1/worlds.wit")),
];

/// The import by which a strategy asks a model.
pub(crate) const MODEL: &str = "baler:compaction/model@0.1.0";

/// A world of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum World {
    PureStrategy,
    ModelStrategy,
}

impl World {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::PureStrategy => "pure-strategy",
            Self::ModelStrategy => "model-strategy",
        }
    }
}
