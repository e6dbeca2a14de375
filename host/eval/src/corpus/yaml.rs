//! YAML files. Messages are converted to JSON.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{ANTHROPIC, BEDROCK, CHAT, GEMINI, RESPONSES, Recording};

#[derive(Deserialize)]
struct Snapshot {
    #[serde(default)]
    conversations: Vec<Exchange>,
}

#[derive(Deserialize)]
struct Exchange {
    messages: Value,
}

#[derive(Deserialize)]
struct Cassette {
    #[serde(default)]
    interactions: Vec<Interaction>,
}

#[derive(Deserialize)]
struct Interaction {
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    uri: String,
    #[serde(default)]
    parsed_body: Value,
    #[serde(default)]
    body: Value,
}

/// Reads the conversations under `conversations`, each with its `messages`.
pub(super) fn snapshots(text: &str) -> Vec<Recording> {
    let Ok(snapshot) = serde_saphyr::from_str::<Snapshot>(text) else {
        return Vec::new();
    };
    snapshot
        .conversations
        .into_iter()
        .enumerate()
        .map(|(place, exchange)| {
            let body = json!({"messages": exchange.messages});
            Recording::new(place, CHAT, body.to_string())
        })
        .collect()
}

/// Reads the bodies of recorded requests. A request to compact (`/responses/compact`) is one of the
/// Responses format: its `input` is a conversation like any other.
pub(super) fn requests(text: &str) -> Vec<Recording> {
    let Ok(cassette) = serde_saphyr::from_str::<Cassette>(text) else {
        return Vec::new();
    };
    cassette
        .interactions
        .into_iter()
        .enumerate()
        .filter_map(|(place, Interaction { request })| {
            let path = request.uri.split('?').next().unwrap_or_default();
            let format = format_at(path)?;
            let body = match (request.parsed_body, request.body) {
                (Value::Null, Value::String(body)) => body,
                (Value::Null, body) | (body, _) => body.to_string(),
            };
            Some(Recording::new(place, format, body))
        })
        .collect()
}

/// Returns the format of requests to this path.
fn format_at(path: &str) -> Option<&'static str> {
    const PATHS: [(&str, &str); 8] = [
        ("/chat/completions", CHAT),
        ("/v1/messages", ANTHROPIC),
        ("/responses", RESPONSES),
        ("/responses/compact", RESPONSES),
        (":generateContent", GEMINI),
        (":streamGenerateContent", GEMINI),
        ("/converse", BEDROCK),
        ("/converse-stream", BEDROCK),
    ];
    PATHS
        .into_iter()
        .find(|(ending, _)| path.ends_with(ending))
        .map(|(_, format)| format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_become_bodies_with_messages() {
        let found = snapshots(
            "models: [m]\nconversations:\n  - messages:\n      - role: user\n        content: \"12\"\n      - role: assistant\n        content: |-\n          two\n          lines\n",
        );
        assert_eq!(
            found,
            [Recording::new(
                0,
                CHAT,
                r#"{"messages":[{"content":"12","role":"user"},{"content":"two\nlines","role":"assistant"}]}"#
            )]
        );
    }

    #[test]
    fn requests_of_all_formats_are_read_from_a_cassette() {
        let found = requests(
            "interactions:\n- request:\n    uri: https://host.test/v1/responses\n    parsed_body: {input: hi}\n- request:\n    uri: https://host.test/v1/messages?beta=true\n    parsed_body: {messages: []}\n- request:\n    uri: https://host.test/v1/chat/completions\n    body: '{\"messages\": [1]}'\n- request:\n    uri: https://host.test/v1beta/models/m:generateContent\n    parsed_body: {contents: []}\n- request:\n    uri: https://host.test/v1/embeddings\n    parsed_body: {input: hi}\n",
        );
        assert_eq!(
            found,
            [
                Recording::new(0, RESPONSES, r#"{"input":"hi"}"#),
                Recording::new(1, ANTHROPIC, r#"{"messages":[]}"#),
                Recording::new(2, CHAT, r#"{"messages": [1]}"#),
                Recording::new(3, GEMINI, r#"{"contents":[]}"#),
            ]
        );
    }
}
