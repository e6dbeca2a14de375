use std::collections::HashSet;

use serde_json::Value;

use super::{Problems, list};

pub(super) fn check(messages: &[Value], problems: &mut Problems) {
    let mut seen = HashSet::new();
    let mut open: HashSet<&str> = HashSet::new();
    let mut old: Option<&Value> = None;
    let mut begun = false;
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            problems.unless(open.remove(id), at, "CHAT-1");
            problems.unless(
                message.get("content").is_some(),
                at,
                "output without content",
            );
            continue;
        }
        if role == "function" {
            problems.unless(old.take() == Some(&message["name"]), at, "CHAT-5");
            continue;
        }
        problems.unless(open.is_empty() && old.is_none(), at, "CHAT-2");
        match role {
            "system" | "developer" => problems.unless(!begun, at, "CHAT-5"),
            "user" => begun = true,
            "assistant" => {
                begun = true;
                let has = |key| !message[key].is_null();
                let speaks = ["tool_calls", "function_call", "refusal", "audio", "content"];
                problems.unless(speaks.into_iter().any(has), at, "CHAT-3");
                problems.unless(
                    message["content"] != "" || has("tool_calls"),
                    at,
                    "empty answer",
                );
                old = message.get("function_call").map(|call| &call["name"]);
                problems.unless(old.is_none() || !has("tool_calls"), at, "both forms");
                if has("tool_calls") {
                    let calls = list(&message["tool_calls"]);
                    problems.unless((1..=5).contains(&calls.len()), at, "CHAT-3");
                    for call in calls {
                        problems.new_id(&mut seen, &call["id"], at);
                        open.insert(call["id"].as_str().unwrap_or_default());
                        let function = call["function"]["arguments"].is_string();
                        let custom =
                            call["type"] == "custom" && call["custom"]["input"].is_string();
                        problems.unless(function || custom, at, "CHAT-4");
                    }
                }
            }
            _ => problems.unless(false, at, "role"),
        }
    }
    problems.unless(begun, 0, "ALL-1");
}
