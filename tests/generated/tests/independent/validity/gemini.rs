use std::collections::HashSet;

use serde_json::Value;

use super::{Problems, list};

/// All parts with the member `camel` or `snake`.
fn parts<'v>(content: &'v Value, camel: &str, snake: &str) -> Vec<&'v Value> {
    list(&content["parts"])
        .iter()
        .filter_map(|part| part.get(camel).or(part.get(snake)))
        .collect()
}

fn calls(content: &Value) -> Vec<&Value> {
    parts(content, "functionCall", "function_call")
}

fn responses(content: &Value) -> Vec<&Value> {
    parts(content, "functionResponse", "function_response")
}

pub(super) fn check(contents: &[Value], problems: &mut Problems) {
    problems.unless(contents[0]["role"] == "user", 0, "GEM-1");
    let mut seen = HashSet::new();
    let mut spellings = HashSet::new();
    let mut signs = HashSet::new();
    for (at, content) in contents.iter().enumerate() {
        let (calls, responses) = (calls(content), responses(content));
        let before = at.checked_sub(1).map(|before| &contents[before]);
        match content["role"].as_str() {
            Some("user") => problems.unless(calls.is_empty(), at, "user calls"),
            Some("model") => {
                problems.unless(responses.is_empty(), at, "model answers");
                let user = before.is_some_and(|before| before["role"] == "user");
                problems.unless(user, at, "GEM-2, turns");
            }
            _ => problems.unless(false, at, "GEM-1"),
        }
        problems.unless(calls.len() <= 5, at, "more than five calls");
        let called = before.map_or(Vec::new(), self::calls);
        problems.unless(pair(&called, &responses), at, "GEM-2");
        let with_ids = calls.iter().filter(|call| call.get("id").is_some()).count();
        problems.unless(with_ids == 0 || with_ids == calls.len(), at, "some ids");
        for call in calls {
            problems.unless(call["args"].is_object(), at, "args");
            if call.get("id").is_some() {
                problems.new_id(&mut seen, &call["id"], at);
            }
        }
        for response in responses {
            problems.unless(response["response"].is_object(), at, "GEM-4");
        }
        let mut first = true;
        for part in list(&content["parts"]) {
            for key in part.as_object().into_iter().flat_map(|part| part.keys()) {
                if key.starts_with("function") || key.starts_with("inline") {
                    spellings.insert(key.contains('_'));
                }
            }
            if part
                .get("functionCall")
                .or(part.get("function_call"))
                .is_some()
            {
                let signed = part
                    .get("thoughtSignature")
                    .or(part.get("thought_signature"));
                if first {
                    signs.insert(signed.is_some());
                } else {
                    problems.unless(signed.is_none(), at, "GEM-3, second call");
                }
                first = false;
            }
        }
    }
    problems.unless(signs.len() < 2, 0, "GEM-3, first call");
    problems.unless(spellings.len() < 2, 0, "two spellings");
}

/// By id where there is one, else by name and order.
fn pair(calls: &[&Value], responses: &[&Value]) -> bool {
    let mut open = calls.to_vec();
    let matched = responses.iter().all(|response| {
        let place = open.iter().position(|call| {
            call["name"] == response["name"] && call.get("id") == response.get("id")
        });
        place.map(|place| open.remove(place)).is_some()
    });
    matched && open.is_empty()
}
