//! What an address says about the bodies that are sent to it.

use baler_conversation::Format;

/// What is sent to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    /// Requests in this format.
    Of(Format),
    /// Requests in the format of the model, whichever that is. baler reads those of Anthropic's models.
    Model,
    /// Requests that baler does not read, with the reason.
    Apart(&'static str),
    /// Nothing is known; the body has to say.
    Unknown,
}

const OLLAMA: Address = Address::Apart("Ollama's own format");
const NONE: Address = Address::Apart("no conversation");

/// The ends of paths. The first that fits counts.
const ENDS: &[(&str, Address)] = &[
    ("/chat/completions", Address::Of(Format::OpenAiChat)),
    // Cohere and Writer speak it under these.
    ("/v1/chat", Address::Of(Format::OpenAiChat)),
    ("/v2/chat", Address::Of(Format::OpenAiChat)),
    ("/responses", Address::Of(Format::OpenAiResponses)),
    (
        "/responses/input_tokens",
        Address::Of(Format::OpenAiResponses),
    ),
    ("/v1/messages", Address::Of(Format::Anthropic)),
    ("/messages/count_tokens", Address::Of(Format::Anthropic)),
    (":generateContent", Address::Of(Format::Gemini)),
    (":streamGenerateContent", Address::Of(Format::Gemini)),
    (":countTokens", Address::Of(Format::Gemini)),
    ("/cachedContents", Address::Of(Format::Gemini)),
    ("/converse", Address::Of(Format::BedrockConverse)),
    ("/converse-stream", Address::Of(Format::BedrockConverse)),
    ("/invoke", Address::Model),
    ("/invoke-with-response-stream", Address::Model),
    (":rawPredict", Address::Model),
    (":streamRawPredict", Address::Model),
    ("/api/chat", OLLAMA),
    ("/api/generate", OLLAMA),
    ("/completions", NONE),
    ("/complete", NONE),
    ("/embeddings", NONE),
    ("/embed", NONE),
    (":embedContent", NONE),
    (":batchEmbedContents", NONE),
    (":predict", NONE),
    (":predictLongRunning", NONE),
    ("/moderations", NONE),
    ("/rerank", NONE),
    ("/images/generations", NONE),
    ("/images/edits", NONE),
    ("/audio/speech", NONE),
    ("/audio/transcriptions", NONE),
];

/// Returns what is sent to an address.
pub(super) fn of(address: &str) -> Address {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_end_matches('/');
    // Those of OpenAI's assistants are single messages.
    if path.contains("/threads/") {
        return NONE;
    }
    let known = ENDS.iter().find(|(end, _)| path.ends_with(end));
    known.map_or(Address::Unknown, |(_, known)| *known)
}

/// Whether a body is one of Anthropic's, through a cloud: only these name a version in the body.
pub(super) fn names_anthropic(body: &[u8]) -> bool {
    let body = serde_json::from_slice::<serde_json::Value>(body);
    body.is_ok_and(|body| body.get("anthropic_version").is_some())
}

#[cfg(test)]
mod tests {
    use super::{Address, Format, NONE, OLLAMA, names_anthropic, of};

    #[test]
    fn address_tells_the_format() {
        for (address, expected) in [
            (
                "https://api.example.org/openai/deployments/garden/chat/completions?api-version=1",
                Address::Of(Format::OpenAiChat),
            ),
            (
                "https://api.example.org/v2/chat",
                Address::Of(Format::OpenAiChat),
            ),
            (
                "https://api.example.org/v1/responses",
                Address::Of(Format::OpenAiResponses),
            ),
            (
                "https://api.example.org/v1/messages?beta=true",
                Address::Of(Format::Anthropic),
            ),
            (
                "https://api.example.org/v1beta/models/m:streamGenerateContent?alt=sse",
                Address::Of(Format::Gemini),
            ),
            (
                "https://bedrock.example.org/model/m/converse-stream",
                Address::Of(Format::BedrockConverse),
            ),
            ("https://bedrock.example.org/model/m/invoke", Address::Model),
            ("http://localhost:11434/api/chat", OLLAMA),
            ("https://api.example.org/v1/embeddings", NONE),
            ("https://api.example.org/v1/completions", NONE),
            ("https://api.example.org/v1/threads/t/messages", NONE),
            ("https://api.example.org/v9/talk", Address::Unknown),
            ("", Address::Unknown),
        ] {
            assert_eq!(of(address), expected, "{address}");
        }
    }

    #[test]
    fn only_a_member_of_the_body_names_anthropic() {
        assert!(names_anthropic(
            br#"{"anthropic_version": "v", "messages": []}"#
        ));
        let said = br#"{"messages": [{"role": "user", "content": "\"anthropic_version\""}]}"#;
        assert!(!names_anthropic(said));
        assert!(!names_anthropic(b"anthropic_version"));
    }
}
