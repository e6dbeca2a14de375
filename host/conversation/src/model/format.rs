//! The wire formats by name.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A provider's wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// OpenAI Chat Completions, and the many servers that speak it.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Bedrock Converse.
    BedrockConverse,
}

impl Format {
    /// All formats, in the order in which help texts name them.
    pub const ALL: &[Self] = &[
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::BedrockConverse,
    ];

    /// The name by which programs and receipts call the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::BedrockConverse => "bedrock-converse",
        }
    }

    /// Returns the format of conversations that are posted to a path of a provider, such as `/v1/messages`; `None` if none are:
    /// for counting tokens, lists of models, a provider's own compaction.
    #[must_use]
    pub fn posted_to(path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        let found = ENDS.iter().find(|(end, _)| path.ends_with(end));
        found.map(|(_, format)| *format)
    }
}

/// Ends of paths to which conversations are posted.
const ENDS: [(&str, Format); 7] = [
    ("/chat/completions", Format::OpenAiChat),
    ("/responses", Format::OpenAiResponses),
    ("/messages", Format::Anthropic),
    (":generateContent", Format::Gemini),
    (":streamGenerateContent", Format::Gemini),
    ("/converse", Format::BedrockConverse),
    ("/converse-stream", Format::BedrockConverse),
];

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No wire format has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{name}`; known: {}", known_names())]
pub struct UnknownFormat {
    /// The given name.
    pub name: String,
}

/// Returns the names of all formats.
fn known_names() -> String {
    let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    known.join(", ")
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat {
                name: name.to_owned(),
            })
    }
}
