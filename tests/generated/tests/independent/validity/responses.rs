use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::Problems;

const PAIRS: [(&str, &str); 7] = [
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("local_shell_call", "local_shell_call_output"),
    ("shell_call", "shell_call_output"),
    ("computer_call", "computer_call_output"),
    ("apply_patch_call", "apply_patch_call_output"),
    ("tool_search_call", "tool_search_output"),
];

fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or("message")
}

/// Whether a model made it, so that reasoning can stand in front of it.
fn is_product(item: &Value) -> bool {
    (kind(item) == "message" && item["role"] == "assistant")
        || kind(item).ends_with("_call")
        || kind(item) == "mcp_approval_request"
}

pub(super) fn check(body: &Value, items: &[Value], problems: &mut Problems) {
    let mut ids = HashSet::new();
    let mut calls = HashSet::new();
    let mut open: HashMap<&str, &str> = HashMap::new();
    let mut approvals: HashMap<&str, bool> = HashMap::new();
    let mut asked = None;
    let mut with_ids = HashSet::new();
    for (at, item) in items.iter().enumerate() {
        let kind = kind(item);
        if item.get("id").is_some() {
            problems.new_id(&mut ids, &item["id"], at);
        }
        if is_product(item) && kind != "mcp_approval_request" || kind == "reasoning" {
            with_ids.insert(item.get("id").is_some());
        }
        if kind == "reasoning" {
            let next = items.get(at + 1);
            problems.unless(next.is_some_and(is_product), at, "RESP-3");
            let secret = item["encrypted_content"].is_string() || body["store"] == true;
            problems.unless(item["summary"].is_array() && secret, at, "RESP-5");
        }
        if let Some((_, output)) = PAIRS.iter().find(|(call, _)| *call == kind) {
            problems.new_id(&mut calls, &item["call_id"], at);
            open.insert(item["call_id"].as_str().unwrap_or_default(), output);
        } else if PAIRS.iter().any(|(_, output)| *output == kind) {
            let id = item["call_id"].as_str().unwrap_or_default();
            problems.unless(open.remove(id) == Some(kind), at, "RESP-1");
        } else if kind != "reasoning" {
            problems.unless(open.is_empty(), at, "RESP-2");
        }
        if asked.is_some() {
            problems.unless(kind == "mcp_approval_response", at, "approval is missing");
        }
        match kind {
            "message" => {
                let content = item["content"].is_string() || item["content"].is_array();
                problems.unless(item["role"].is_string() && content, at, "message");
            }
            "mcp_approval_request" => asked = item["id"].as_str(),
            "mcp_approval_response" => {
                let id = item["approval_request_id"].as_str();
                problems.unless(asked.take() == id && id.is_some(), at, "RESP-1");
                approvals.insert(id.unwrap_or_default(), item["approve"] == true);
            }
            "mcp_call" if item.get("approval_request_id").is_some() => {
                let id = item["approval_request_id"].as_str().unwrap_or_default();
                problems.unless(approvals.get(id) == Some(&true), at, "call without consent");
            }
            "item_reference" => problems.unless(body["store"] == true, at, "not stored"),
            _ => {}
        }
    }
    problems.unless(with_ids.len() < 2, 0, "some items have ids, some not");
    problems.unless(items.iter().any(|item| item["role"] == "user"), 0, "ALL-1");
}
