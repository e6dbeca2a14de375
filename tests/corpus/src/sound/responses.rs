//! OpenAI Responses.

use std::collections::HashSet;

use serde_json::Value;

use super::Wrong;

fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or("message")
}

fn is_output(item: &Value) -> bool {
    kind(item).ends_with("_output")
}

/// Whether the item is one that the model made in a response.
fn is_models(item: &Value) -> bool {
    match kind(item) {
        "message" => item["role"] == "assistant",
        "compaction"
        | "compaction_summary"
        | "item_reference"
        | "additional_tools"
        | "mcp_approval_response" => false,
        _ => !is_output(item),
    }
}

/// Outputs behind their calls, calls with their outputs except at the end, and reasoning
/// directly in front of what it led to.
pub(super) fn rules(items: &[Value]) -> Result<(), &'static str> {
    // Such an item stands for another one that the provider stored.
    let hides_some = items.iter().any(|item| kind(item) == "item_reference");
    let mut called: HashSet<&str> = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if kind(item) == "reasoning" && !items.get(index + 1).is_some_and(is_models) {
            return Err("reasoning without what it led to");
        }
        if let Some(id) = item["call_id"].as_str() {
            if !is_output(item) {
                if !called.insert(id) {
                    return Err("a call has the id of another one");
                }
                open.push(id);
            } else if let Some(at) = open.iter().position(|own| *own == id) {
                open.remove(at);
            } else if !hides_some {
                return Err("an output without its call");
            }
        }
        let is_spoken_over = !is_models(item) && !is_output(item);
        if is_spoken_over && !open.is_empty() && !hides_some {
            return Err("a call without its output");
        }
    }
    let is_instructions =
        |item: &Value| matches!(item["role"].as_str(), Some("system" | "developer"));
    if items.iter().all(is_instructions) {
        return Err("nobody speaks");
    }
    Ok(())
}

/// What stood directly behind a reasoning item stands behind the same one in the result.
/// `places` has for each item of the result its index among the old ones.
pub(super) fn products_follow_their_reasoning(
    old: &[Value],
    places: &[Option<usize>],
) -> Result<(), Wrong> {
    for (index, place) in places.iter().enumerate() {
        let Some(reasoning) = place.and_then(|place| place.checked_sub(1)) else {
            continue;
        };
        let before = index.checked_sub(1).and_then(|before| places[before]);
        if kind(&old[reasoning]) == "reasoning" && before != Some(reasoning) {
            return Err(Wrong::Rules("an item without its reasoning"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn items() -> (Value, Value, Value, Value) {
        (
            json!({"role": "user", "content": "a"}),
            json!({"type": "reasoning", "summary": []}),
            json!({"type": "function_call", "call_id": "1"}),
            json!({"type": "function_call_output", "call_id": "1", "output": "b"}),
        )
    }

    #[test]
    fn calls_and_outputs_are_paired() {
        let (user, reasoning, call, output) = items();
        let good = [&user, &reasoning, &call, &output, &user].map(Clone::clone);
        assert_eq!(rules(&good), Ok(()));
        assert_eq!(rules(&good[..3]), Ok(()));
        assert!(rules(&[user.clone(), call.clone(), user.clone()]).is_err());
        assert!(rules(&[user.clone(), output.clone()]).is_err());
        assert!(rules(&[user, call.clone(), output.clone(), call, output]).is_err());
    }

    #[test]
    fn reasoning_and_what_it_led_to_stay_together() {
        let (user, reasoning, call, output) = items();
        assert!(rules(&[user.clone(), reasoning.clone(), user.clone()]).is_err());
        assert!(rules(&[user.clone(), reasoning.clone()]).is_err());
        let old = [user, reasoning, call, output];
        let places =
            |places: &[usize]| -> Vec<Option<usize>> { places.iter().copied().map(Some).collect() };
        assert!(products_follow_their_reasoning(&old, &places(&[0, 1, 2, 3])).is_ok());
        assert!(products_follow_their_reasoning(&old, &places(&[0, 2, 3])).is_err());
        assert!(products_follow_their_reasoning(&old, &places(&[0])).is_ok());
    }
}
