use std::collections::HashSet;

use serde_json::Value;

use super::{Problems, list};

fn ids<'v>(message: &'v Value, kind: &str, key: &str) -> HashSet<&'v str> {
    list(&message["content"])
        .iter()
        .filter(|block| block["type"] == kind)
        .filter_map(|block| block[key].as_str())
        .collect()
}

pub(super) fn check(body: &Value, messages: &[Value], problems: &mut Problems) {
    problems.unless(messages[0]["role"] == "user", 0, "ANTH-1");
    problems.unless(marks(body) <= 4, 0, "ANTH-9");
    let mut seen = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let blocks = list(&message["content"]);
        let calls = ids(message, "tool_use", "id");
        let results = ids(message, "tool_result", "tool_use_id");
        problems.unless(calls.len() <= 5, at, "more than five calls");
        let before = at.checked_sub(1).map(|before| &messages[before]);
        let called = before.map_or(HashSet::new(), |before| ids(before, "tool_use", "id"));
        problems.unless(results == called, at, "ANTH-3, ANTH-4");
        let number = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).count();
        problems.unless(number("tool_result") == results.len(), at, "ALL-4");
        let first = blocks.iter().take(results.len());
        problems.unless(
            first
                .into_iter()
                .all(|block| block["type"] == "tool_result"),
            at,
            "ANTH-3, order",
        );
        match message["role"].as_str() {
            Some("user") => problems.unless(calls.is_empty(), at, "user calls"),
            Some("assistant") => problems.unless(results.is_empty(), at, "assistant answers"),
            _ => problems.unless(false, at, "ANTH-1"),
        }
        if !calls.is_empty() && body.get("thinking").is_some() {
            let thinks = matches!(
                blocks[0]["type"].as_str(),
                Some("thinking" | "redacted_thinking")
            );
            problems.unless(thinks, at, "ANTH-5");
        }
        check_blocks(body, blocks, at, &mut seen, problems);
    }
    if let Some(last) = messages.last().filter(|last| last["role"] == "assistant") {
        let text = last["content"].as_str();
        let text = text.or(list(&last["content"])
            .last()
            .and_then(|block| block["text"].as_str()));
        let text = text.unwrap_or_default();
        problems.unless(text.trim_end() == text, messages.len(), "ANTH-6");
    }
}

fn check_blocks<'v>(
    body: &Value,
    blocks: &'v [Value],
    at: usize,
    seen: &mut HashSet<&'v str>,
    problems: &mut Problems,
) {
    let mut served: Option<&Value> = None;
    for (index, block) in blocks.iter().enumerate() {
        let kind = block["type"].as_str().unwrap_or_default();
        problems.unless(!kind.is_empty(), at, "a block without a type");
        if kind.ends_with("tool_use") {
            problems.new_id(seen, &block["id"], at);
            problems.unless(block["input"].is_object(), at, "input");
        }
        if let Some(id) = served.take() {
            let answers = kind.ends_with("_tool_result") && block["tool_use_id"] == *id;
            problems.unless(answers, at, "ANTH-7");
        } else {
            problems.unless(!kind.ends_with("_tool_result"), at, "ANTH-7");
        }
        match kind {
            "server_tool_use" | "mcp_tool_use" => served = Some(&block["id"]),
            "compaction" => problems.unless(index == 0, at, "ANTH-8"),
            "thinking" if body.get("thinking").is_some() => {
                let signed = block["signature"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty());
                problems.unless(signed, at, "not signed");
                problems.unless(block.get("cache_control").is_none(), at, "ANTH-9");
            }
            "tool_result" if block["is_error"] == true => {
                problems.unless(block["content"] != "", at, "an error without a text");
            }
            _ => {}
        }
    }
    problems.unless(served.is_none(), at, "ANTH-7");
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            let own = usize::from(members.contains_key("cache_control"));
            own + members.values().map(marks).sum::<usize>()
        }
        Value::Array(values) => values.iter().map(marks).sum(),
        _ => 0,
    }
}
