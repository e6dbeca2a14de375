//! What a request asks for beside its messages.

use baler_host::Format;
use serde_json::Value;

/// Returns the names of tools that stand among the items of a request (Codex).
pub(crate) fn items_of_tools(body: &Value) -> Vec<&str> {
    let items = body["input"].as_array().into_iter().flatten();
    let tools = items
        .filter(|item| item["type"] == "additional_tools")
        .filter_map(|item| item["tools"].as_array());
    tools
        .flatten()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

/// Decides whether an answer holds what the model thinks.
pub(crate) fn wants_thinking(format: Format, body: &Value) -> bool {
    match format {
        Format::Anthropic => true,
        Format::OpenAiResponses => body["include"]
            .as_array()
            .is_some_and(|list| list.iter().any(|one| one == "reasoning.encrypted_content")),
        // The client in Python mixes both ways to write a name.
        Format::Gemini => ["includeThoughts", "include_thoughts"]
            .iter()
            .any(|name| body["generationConfig"]["thinkingConfig"][name] == true),
        _ => false,
    }
}

/// Returns the JSON that a request wants: gemini-cli asks beside the session whether the model goes in circles.
pub(crate) fn wanted_json(body: &Value) -> Option<&'static str> {
    body.pointer("/generationConfig/responseMimeType")?;
    Some(r#"{"unproductive_state_analysis": "no", "unproductive_state_confidence": 0.0}"#)
}
