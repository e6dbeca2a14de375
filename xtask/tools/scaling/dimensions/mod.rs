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
use crate::plans;

/// Makes a document of some size.
pub(crate) type Make = fn(Kind, usize) -> Input;

/// A dimension, and the formats that have it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dimension {
    pub(crate) name: &'static str,
    pub(crate) state: State,
    pub(crate) wires: &'static [Kind],
    pub(crate) make: Make,
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

type Name = &'static str;
type Wires = &'static [Kind];

impl Dimension {
    const fn of(state: State, name: Name, wires: Wires, make: Make) -> Self {
        Self {
            name,
            state,
            wires,
            make,
        }
    }

    pub(crate) const fn valid(name: Name, wires: Wires, make: Make) -> Self {
        Self::of(State::Valid, name, wires, make)
    }

    const fn broken(name: Name, wires: Wires, make: Make) -> Self {
        Self::of(State::Broken, name, wires, make)
    }

    const fn odd(name: Name, wires: Wires, make: Make) -> Self {
        Self::of(State::Odd, name, wires, make)
    }

    pub(crate) const fn planned(name: Name, wires: Wires, make: Make) -> Self {
        Self::of(State::Planned, name, wires, make)
    }
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Dimension> {
    let all = [
        messages::DIMENSIONS,
        calls::DIMENSIONS,
        parts::DIMENSIONS,
        requests::DIMENSIONS,
        texts::DIMENSIONS,
        broken::DIMENSIONS,
        plans::DIMENSIONS,
    ];
    all.into_iter().flatten()
}
