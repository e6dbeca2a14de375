//! Which format a document is in.

use super::body::{Body, List, Raw};
use super::{anthropic, bedrock_converse, openai_chat, openai_responses};
use crate::model::format::Format;

impl Format {
    /// Finds out which format `body` is in. Plain messages, legal in several, count as OpenAI
    /// Chat unless the model's name speaks against it, and no tool for it.
    pub(crate) fn detect(body: &Body<'_>) -> Self {
        match body.list {
            List::Contents => Self::Gemini,
            List::Input => Self::OpenAiResponses,
            List::Bare if body.messages.iter().any(is_gemini) => Self::Gemini,
            List::Bare if body.messages.iter().any(openai_responses::is_item) => {
                Self::OpenAiResponses
            }
            List::Bare | List::Messages => {
                if bedrock_converse::looks_like(body) {
                    Self::BedrockConverse
                } else if anthropic::looks_like(body) && !openai_chat::looks_like(body) {
                    Self::Anthropic
                } else {
                    Self::OpenAiChat
                }
            }
        }
    }
}

fn is_gemini(raw: &Raw<'_>) -> bool {
    raw.has("parts") && !raw.has("content")
}
