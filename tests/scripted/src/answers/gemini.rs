//! Answers of the Gemini API.

use serde_json::{Value, json};

use super::{OUTPUT, Said, pieces};

/// Returns the whole answer, and its events.
pub(super) fn write(said: &Said) -> (Value, Vec<Value>) {
    let thought = said
        .thinking
        .map(|text| json!({"text": text, "thought": true}));
    let calls = said
        .calls
        .iter()
        .map(|call| json!({"functionCall": {"name": call.name, "args": call.arguments}}));
    let mut calls: Vec<Value> = calls.collect();
    // Of calls that are made together, the first one holds the signature.
    if let Some(first) = calls.first_mut() {
        first["thoughtSignature"] = json!("c2lnbmVk");
    }
    let before: Vec<Value> = thought.into_iter().chain(calls).collect();
    let is_text = said.calls.is_empty();
    let texts = |pieces: Vec<String>| -> Vec<Value> {
        let said = is_text.then_some(pieces).into_iter().flatten();
        let said = said.map(|text| json!({"text": text}));
        before.iter().cloned().chain(said).collect()
    };
    let answer = |parts: &[Value]| json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}], "modelVersion": "scripted", "responseId": format!("said-{}", said.number)});
    let ended = |mut answer: Value| {
        let input = said.usage.cached + said.usage.written;
        answer["candidates"][0]["finishReason"] = json!("STOP");
        answer["usageMetadata"] = json!({"promptTokenCount": input, "cachedContentTokenCount": said.usage.cached, "candidatesTokenCount": OUTPUT, "totalTokenCount": input + OUTPUT});
        answer
    };
    let whole = ended(answer(&texts(vec![said.text.clone()])));
    let mut events: Vec<Value> = texts(pieces(&said.text))
        .into_iter()
        .map(|part| answer(&[part]))
        .collect();
    if let Some(last) = events.pop() {
        events.push(ended(last));
    }
    (whole, events)
}
