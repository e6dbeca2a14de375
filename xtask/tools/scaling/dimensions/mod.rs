//! The dimensions that a request can grow in. Each is a function from a size to a document.

mod broken;
pub(crate) mod calls;
pub(crate) mod messages;
mod parts;
mod requests;
pub(crate) mod texts;

use baler_generated::Kind;

pub(crate) use parts::thinking;

use crate::case::{Input, State};

/// A dimension, and the formats that have it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dimension {
    pub(crate) name: &'static str,
    pub(crate) state: State,
    pub(crate) wires: &'static [Kind],
    pub(crate) make: fn(Kind, usize) -> Input,
}

pub(crate) const ALL: &[Kind] = &Kind::ALL;
pub(crate) const CHAT: &[Kind] = &[Kind::OpenAiChat];
pub(crate) const RESPONSES: &[Kind] = &[Kind::OpenAiResponses];
pub(crate) const ANTHROPIC: &[Kind] = &[Kind::Anthropic];
pub(crate) const GEMINI: &[Kind] = &[Kind::Gemini];
pub(crate) const BEDROCK: &[Kind] = &[Kind::BedrockConverse];

/// Formats in which the arguments of a call are a text.
pub(crate) const OPENAI: &[Kind] = &[Kind::OpenAiChat, Kind::OpenAiResponses];

/// Formats with thinking in the content.
pub(crate) const THINKING: &[Kind] = &[
    Kind::OpenAiResponses,
    Kind::Anthropic,
    Kind::Gemini,
    Kind::BedrockConverse,
];

impl Dimension {
    const fn valid(
        name: &'static str,
        wires: &'static [Kind],
        make: fn(Kind, usize) -> Input,
    ) -> Self {
        Self {
            name,
            state: State::Valid,
            wires,
            make,
        }
    }

    const fn broken(
        name: &'static str,
        wires: &'static [Kind],
        make: fn(Kind, usize) -> Input,
    ) -> Self {
        Self {
            state: State::Broken,
            ..Self::valid(name, wires, make)
        }
    }

    const fn odd(
        name: &'static str,
        wires: &'static [Kind],
        make: fn(Kind, usize) -> Input,
    ) -> Self {
        Self {
            state: State::Odd,
            ..Self::valid(name, wires, make)
        }
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Dimension> {
    [
        messages::DIMENSIONS,
        calls::DIMENSIONS,
        parts::DIMENSIONS,
        requests::DIMENSIONS,
        texts::DIMENSIONS,
        broken::DIMENSIONS,
    ]
    .into_iter()
    .flatten()
    .copied()
    .collect()
}
