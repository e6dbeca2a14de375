/// The features that each format must have.
mod wanted;

use std::collections::{HashMap, HashSet};

use baler_generated::{Generated, Kind};
use serde_json::Value;

use super::{generated, list, read};

/// All that is to be seen in a conversation, as words: `type image`, `key name`, `5 calls`.
fn features(generated: &Generated) -> HashSet<String> {
    let document = generated.document();
    let body = read(&document);
    let messages: Vec<Value> = generated.messages.iter().map(|text| read(text)).collect();
    let mut found = HashSet::new();
    for key in body.as_object().into_iter().flat_map(|body| body.keys()) {
        found.insert(format!("body {key}"));
    }
    for (index, message) in messages.iter().enumerate() {
        walk(message, &mut found);
        let role = message["role"].as_str().unwrap_or_default();
        found.insert(format!("role {role}"));
        found.insert(format!("{} calls", calls(message)));
        if let Some(before) = index.checked_sub(1).map(|before| &messages[before]) {
            found.insert(format!("{} after {}", name(message), name(before)));
        }
    }
    if let Some(last) = messages.last() {
        found.insert(format!("end {}", name(last)));
        if generated.kind == Kind::OpenAiChat {
            partial_end(&messages, &mut found);
        }
    }
    spelling(&document, &mut found);
    shapes(&messages, &mut found);
    found
}

/// Finds the type or role of a message, and whether it holds calls or outputs.
fn name(message: &Value) -> String {
    let role = message["role"].as_str().or(message["type"].as_str());
    let holds = |keys: [&str; 3]| {
        let parts = [list(&message["content"]), list(&message["parts"])].concat();
        parts.iter().any(|part| {
            keys.iter()
                .any(|key| part.get(key).is_some() || part["type"] == *key)
        })
    };
    let more = if calls(message) > 0 || message.get("function_call").is_some() {
        " calls"
    } else if holds(["tool_result", "functionResponse", "toolResult"]) {
        " answers"
    } else {
        ""
    };
    format!("{}{more}", role.unwrap_or_default())
}

fn calls(message: &Value) -> usize {
    let blocks = list(&message["content"]).iter();
    let parts = list(&message["parts"]).iter();
    list(&message["tool_calls"]).len()
        + blocks
            .filter(|block| block["type"] == "tool_use" || is_call(block))
            .count()
        + parts
            .filter(|part| part.get("functionCall").is_some())
            .count()
}

/// Whether a block of Bedrock Converse calls a tool of the client's.
fn is_call(block: &Value) -> bool {
    let call = block.get("toolUse");
    call.is_some_and(|call| call.get("type").is_none())
}

/// Whether some outputs of the last batch are there and some are not.
fn partial_end(messages: &[Value], found: &mut HashSet<String>) {
    let outputs = messages
        .iter()
        .rev()
        .take_while(|message| message["role"] == "tool")
        .count();
    let open = calls(&messages[messages.len() - outputs - 1]);
    if outputs > 0 && outputs < open {
        found.insert("partial end".to_owned());
    }
}

/// Finds types, keys and kinds of values anywhere in a message.
fn walk(value: &Value, found: &mut HashSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(kind) = value["type"].as_str() {
                found.insert(format!("type {kind}"));
            }
            for (key, value) in members {
                found.insert(format!("key {key}"));
                match value {
                    Value::Null => drop(found.insert(format!("null {key}"))),
                    Value::Bool(value) => drop(found.insert(format!("{value} {key}"))),
                    Value::String(text) if text.is_empty() => {
                        found.insert(format!("empty {key}"));
                    }
                    Value::String(text) => {
                        found.insert(format!("text {key}"));
                        if text.len() > 3000 {
                            found.insert(format!("long {key}"));
                        }
                        if text.len() > 15_000 {
                            found.insert(format!("huge {key}"));
                        }
                    }
                    Value::Array(values) => {
                        found.insert(format!("list {key}"));
                        if values.is_empty() {
                            found.insert(format!("no {key}"));
                        }
                    }
                    _ => {}
                }
                walk(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| walk(value, found)),
        _ => {}
    }
}

/// Finds ways to write the same JSON.
fn spelling(document: &str, found: &mut HashSet<String>) {
    for (name, sign) in [
        ("number 1e0", "1e0"),
        ("number 1.0", ":1.0"),
        ("slash", "\\/"),
        ("escaped letter", "\\u00e9"),
        ("escaped pair", "\\ud83d\\ude00"),
        ("capital escape", "\\u006F"),
        ("spaces", "\": \""),
        ("lines", "{\n    \""),
        ("odd white space", "\t \r\n"),
        ("chinese", "请不要"),
        ("japanese", "最後の列"),
        ("arabic", "من فضلك"),
        ("hindi", "कृपया"),
        ("emoji", "👩‍👩‍👧‍👦"),
        ("combining", "e\u{301}"),
        ("mark", "<baler:summary"),
        ("closing mark", "</baler:summary>"),
        ("terminal colours", "\\u001b[32m"),
        ("type first", "{\"type\":"),
        ("role first", "{\"role\":"),
        ("role last", "\"role\":\"user\"}"),
    ] {
        if document.contains(sign) {
            found.insert(name.to_owned());
        }
    }
}

/// Finds features of several messages together.
fn shapes(messages: &[Value], found: &mut HashSet<String>) {
    item_sequences(messages, found);
    item_ids(messages, found);
    for message in messages {
        signatures(message, found);
    }
}

/// Finds sequences of items of OpenAI Responses.
fn item_sequences(messages: &[Value], found: &mut HashSet<String>) {
    let kinds: Vec<&str> = messages
        .iter()
        .map(|message| message["type"].as_str().unwrap_or("message"))
        .collect();
    for (name, shape) in [
        (
            "call out call out",
            "reasoning function_call function_call_output function_call function_call_output",
        ),
        (
            "parallel items",
            "function_call function_call function_call_output function_call_output",
        ),
        (
            "reasoning before each call",
            "reasoning function_call reasoning function_call",
        ),
        (
            "approved",
            "mcp_approval_request mcp_approval_response mcp_call",
        ),
        (
            "approval after reasoning",
            "reasoning mcp_approval_request mcp_approval_response",
        ),
        ("search after reasoning", "reasoning web_search_call"),
        ("message before calls", "reasoning message function_call"),
    ] {
        let shape: Vec<&str> = shape.split(' ').collect();
        if kinds.windows(shape.len()).any(|window| window == shape) {
            found.insert(name.to_owned());
        }
    }
    if messages
        .iter()
        .any(|item| item["type"] == "reasoning" && list(&item["summary"]).is_empty())
    {
        found.insert("reasoning without summary".to_owned());
    }
}

/// Finds calls of OpenAI Responses with and without an id of their item.
fn item_ids(messages: &[Value], found: &mut HashSet<String>) {
    let with_id = messages
        .iter()
        .filter(|item| item["type"] == "function_call" && item.get("id").is_some());
    let without = messages
        .iter()
        .filter(|item| item["type"] == "function_call" && item.get("id").is_none());
    for (name, count) in [
        ("calls with item id", with_id.count()),
        ("calls without item id", without.count()),
    ] {
        if count > 0 {
            found.insert(name.to_owned());
        }
    }
}

/// Finds signed and unsigned calls and thinking, and the parts of tool results.
fn signatures(message: &Value, found: &mut HashSet<String>) {
    for part in list(&message["parts"]) {
        let call = &part["functionCall"];
        if call.is_object() {
            found.insert(format!("functionCall id {}", call.get("id").is_some()));
            let signed = part.get("thoughtSignature").is_some();
            found.insert(format!("functionCall signed {signed}"));
        }
    }
    for block in list(&message["content"]) {
        if block["type"] == "thinking" {
            let signed = block["signature"]
                .as_str()
                .is_some_and(|text| !text.is_empty());
            found.insert(format!("thinking signed {signed}"));
        }
        for inner in list(&block["content"]) {
            let kind = inner["type"].as_str().unwrap_or_default();
            found.insert(format!(
                "{} of {}",
                kind,
                block["type"].as_str().unwrap_or_default()
            ));
        }
    }
}

#[test]
fn every_feature_occurs() {
    const SEEDS: u64 = 2000;
    let mut missing = Vec::new();
    for kind in Kind::ALL {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for seed in 0..SEEDS {
            for feature in features(&generated(kind, seed)) {
                *counts.entry(feature).or_default() += 1;
            }
        }
        for feature in wanted::everywhere().chain(wanted::of(kind)) {
            let count = counts.get(feature).copied().unwrap_or_default();
            // Rare features must occur several times, too.
            if count < 3 {
                missing.push(format!("{kind:?}: {feature} ({count})"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
