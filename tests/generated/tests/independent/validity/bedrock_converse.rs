use std::collections::HashSet;

use serde_json::Value;

use super::{Problems, list};

/// The values of the blocks of a kind that the client answers or gives.
fn blocks<'v>(message: &'v Value, kind: &str) -> Vec<&'v Value> {
    list(&message["content"])
        .iter()
        .filter_map(|block| block.get(kind))
        // The provider's own tools are called and answered in one message.
        .filter(|value| value.get("type").is_none() || kind == "cachePoint")
        .collect()
}

fn ids<'v>(blocks: &[&'v Value]) -> Vec<&'v str> {
    let mut ids: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block["toolUseId"].as_str())
        .collect();
    ids.sort_unstable();
    ids
}

pub(super) fn check(body: &Value, messages: &[Value], problems: &mut Problems) {
    problems.unless(messages[0]["role"] == "user", 0, "BED-1");
    problems.unless(body["toolConfig"]["tools"].is_array(), 0, "BED-5");
    problems.unless(points(body, messages) <= 4, 0, "BED-10");
    let (mut seen, mut names) = (HashSet::new(), HashSet::new());
    for (at, message) in messages.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &messages[before]);
        let (calls, results) = (blocks(message, "toolUse"), blocks(message, "toolResult"));
        let alternates = before.is_none_or(|before| before["role"] != message["role"]);
        problems.unless(alternates, at, "BED-2");
        match message["role"].as_str() {
            Some("user") => problems.unless(calls.is_empty(), at, "user calls"),
            Some("assistant") => problems.unless(results.is_empty(), at, "assistant answers"),
            _ => problems.unless(false, at, "BED-1"),
        }
        problems.unless(calls.len() <= 5, at, "more than five calls");
        let called = before.map_or(Vec::new(), |before| blocks(before, "toolUse"));
        problems.unless(ids(&called) == ids(&results), at, "BED-3, BED-4");
        for call in &calls {
            problems.new_id(&mut seen, &call["toolUseId"], at);
            problems.unless(call["input"].is_object(), at, "input");
        }
        for result in &results {
            problems.unless(!list(&result["content"]).is_empty(), at, "no content");
        }
        let thinks = body.get("additionalModelRequestFields").is_some();
        let first = &list(&message["content"])[0];
        let begins = first.get("reasoningContent").is_some();
        problems.unless(calls.is_empty() || !thinks || begins, at, "BED-7");
        let documents = blocks(message, "document");
        problems.unless(documents.len() <= 5, at, "BED-9, number");
        let says = |kind| !blocks(message, kind).is_empty();
        let has_text = says("text") || says("guardContent");
        problems.unless(documents.is_empty() || has_text, at, "BED-9, text");
        for document in documents {
            problems.unless(names.insert(document["name"].as_str()), at, "BED-9, name");
        }
        for pair in list(&message["content"]).windows(2) {
            let is_misplaced =
                pair[0].get("reasoningContent").is_some() && pair[1].get("cachePoint").is_some();
            problems.unless(!is_misplaced, at, "BED-10, place");
        }
    }
}

/// Cache points in the whole request.
fn points(body: &Value, messages: &[Value]) -> usize {
    let system = list(&body["system"]).iter();
    let tools = list(&body["toolConfig"]["tools"]).iter();
    let around = system.chain(tools);
    around
        .filter(|block| block.get("cachePoint").is_some())
        .count()
        + messages
            .iter()
            .map(|message| blocks(message, "cachePoint").len())
            .sum::<usize>()
}
