//! What a request is.

use axum::http::{HeaderMap, Method, header};
use baler_host::Format;

/// Returns the wire format of the conversation that a request holds; `None` if it holds none. Then it passes untouched. Bedrock's
/// do: they are signed over their body.
pub(crate) fn conversation(method: &Method, path: &str) -> Option<Format> {
    let format = Format::posted_to(path).filter(|_| method == Method::POST);
    format.filter(|format| *format != Format::BedrockConverse)
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
