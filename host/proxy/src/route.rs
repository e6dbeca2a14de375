//! What a request is.

use axum::http::{HeaderMap, Method, header};
use baler_host::Format;

/// Ends of paths to which conversations are posted, with their wire formats. Bedrock is not among them: its requests are
/// signed over their body.
const CONVERSATIONS: [(&str, Format); 5] = [
    ("/chat/completions", Format::OpenAiChat),
    ("/responses", Format::OpenAiResponses),
    ("/messages", Format::Anthropic),
    (":generateContent", Format::Gemini),
    (":streamGenerateContent", Format::Gemini),
];

/// Returns the wire format of the conversation that a request holds; `None` if it holds none. Then it passes untouched:
/// counting tokens, lists of models, a provider's own compaction.
pub(crate) fn conversation(method: &Method, path: &str) -> Option<Format> {
    if method != Method::POST {
        return None;
    }
    let path = path.trim_end_matches('/');
    let found = CONVERSATIONS.iter().find(|(end, _)| path.ends_with(end));
    found.map(|(_, format)| *format)
}

/// First segments of paths that the proxy itself answers.
const PAGES: [&str; 3] = ["ui", "mcp", "metrics"];

/// Returns the first segment of a path that the proxy itself answers.
pub(crate) fn page(path: &str) -> Option<&'static str> {
    let first = path.split('/').nth(1)?;
    PAGES.into_iter().find(|page| *page == first)
}

/// Decides whether a request wants a WebSocket. Other protocols are only offered, and HTTP/1.1 is a good answer to that.
pub(crate) fn is_websocket(headers: &HeaderMap) -> bool {
    let upgrades = headers.get_all(header::UPGRADE).iter();
    let mut names = upgrades.filter_map(|value| value.to_str().ok());
    names.any(|names| names.to_ascii_lowercase().contains("websocket"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_conversations_have_a_format() {
        for (path, format) in [
            ("/v1/chat/completions", Some(Format::OpenAiChat)),
            (
                "/openai/deployments/x/chat/completions",
                Some(Format::OpenAiChat),
            ),
            ("/v1/responses/", Some(Format::OpenAiResponses)),
            ("/v1/responses/compact", None),
            ("/v1/responses/input_tokens", None),
            ("/v1/responses/resp_1", None),
            ("/v1/messages", Some(Format::Anthropic)),
            ("/v1/messages/count_tokens", None),
            ("/v1/messages/batches", None),
            (
                "/v1beta/models/gemini-3-pro:streamGenerateContent",
                Some(Format::Gemini),
            ),
            ("/v1beta/models/gemini-3-pro:countTokens", None),
            ("/v1/completions", None),
        ] {
            assert_eq!(conversation(&Method::POST, path), format, "{path}");
            assert_eq!(conversation(&Method::GET, path), None, "{path}");
        }
    }
}
