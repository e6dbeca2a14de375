//! OpenAI Responses.

use std::collections::HashSet;

use serde_json::Value;

use super::{SILENT, Wrong, is_silent};

fn kind(item: &Value) -> &str {
    // A reference may leave its type out, too.
    let untyped = if item.get("role").is_none() && item.get("id").is_some() {
        "item_reference"
    } else {
        "message"
    };
    item["type"].as_str().unwrap_or(untyped)
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

/// Outputs behind their calls, and calls with their outputs except at the end. No two calls of one
/// id wait at once.
pub(super) fn rules(items: &[Value]) -> Result<(), &'static str> {
    // Such an item stands for another one that the provider stored.
    let hides_some = items.iter().any(|item| kind(item) == "item_reference");
    let mut open: Vec<&str> = Vec::new();
    for item in items {
        if let Some(id) = item["call_id"].as_str() {
            if !is_output(item) {
                if open.contains(&id) {
                    return Err("a call has the id of one without its output");
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
    if items.is_empty() {
        return Err("nobody speaks");
    }
    Ok(())
}

/// Reasoning is directly in front of what it led to, and somebody speaks. The API takes reasoning
/// alone where nothing is stored; a result never parts the two.
pub(super) fn doubts(items: &[Value]) -> Vec<&'static str> {
    let is_alone = |(index, item): (usize, &Value)| {
        kind(item) == "reasoning" && !items.get(index + 1).is_some_and(is_models)
    };
    let mut doubts = Vec::new();
    if items.iter().enumerate().any(is_alone) {
        doubts.push("reasoning without what it led to");
    }
    doubts.extend(is_silent(items).then_some(SILENT));
    doubts
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
        // What the user says behind an answer that failed is no product of it.
        let is_product = is_models(&old[reasoning + 1]);
        if is_product && kind(&old[reasoning]) == "reasoning" && before != Some(reasoning) {
            return Err(Wrong::Rules("an item without its reasoning"));
        }
    }
    Ok(())
}

/// What is sent under its id keeps the reasoning that stood last before it in its response, or the
/// reference that may stand for that.
pub(super) fn items_keep_their_reasoning(
    old: &[Value],
    places: &[Option<usize>],
) -> Result<(), Wrong> {
    let kept: HashSet<usize> = places.iter().flatten().copied().collect();
    let mut reasoning = None;
    // Words behind an output are of another response.
    let mut is_answered = false;
    for (index, item) in old.iter().enumerate() {
        match kind(item) {
            "reasoning" | "item_reference" => {
                (reasoning, is_answered) = (Some(index), false);
                continue;
            }
            "mcp_approval_response" => is_answered = true,
            _ if is_output(item) => is_answered = true,
            "message" if is_answered => reasoning = None,
            _ if !is_models(item) => reasoning = None,
            _ => {}
        }
        let is_bound = is_models(item) && item["id"].as_str().is_some_and(|id| !id.is_empty());
        if is_bound && kept.contains(&index) && reasoning.is_some_and(|own| !kept.contains(&own)) {
            return Err(Wrong::Rules("an item under its id without its reasoning"));
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
        assert!(rules(&[user.clone(), call.clone(), call.clone(), output.clone()]).is_err());
        let again = [user, call.clone(), output.clone(), call, output];
        assert_eq!(rules(&again), Ok(()));
    }

    #[test]
    fn reasoning_and_what_it_led_to_stay_together() {
        let (user, reasoning, call, output) = items();
        let alone = "reasoning without what it led to";
        let parted = [user.clone(), reasoning.clone(), user.clone()];
        assert_eq!(doubts(&parted), [alone]);
        assert_eq!(doubts(&parted[..2]), [alone]);
        assert!(doubts(&[user.clone(), reasoning.clone(), call.clone()]).is_empty());
        let old = [user, reasoning, call, output];
        let places =
            |places: &[usize]| -> Vec<Option<usize>> { places.iter().copied().map(Some).collect() };
        assert!(products_follow_their_reasoning(&old, &places(&[0, 1, 2, 3])).is_ok());
        assert!(products_follow_their_reasoning(&old, &places(&[0, 2, 3])).is_err());
        assert!(products_follow_their_reasoning(&old, &places(&[0])).is_ok());
    }

    #[test]
    fn what_has_an_id_keeps_the_reasoning_or_reference_before_it() {
        let (user, reasoning, mut call, output) = items();
        let says = json!({"type": "message", "role": "assistant", "id": "msg_1"});
        let refers = json!({"type": "item_reference", "id": "rs_1"});
        let check = |old: &[Value], kept: &[usize]| {
            let places: Vec<Option<usize>> = kept.iter().copied().map(Some).collect();
            items_keep_their_reasoning(old, &places).is_ok()
        };
        for first in [reasoning, refers] {
            let items = |call: &Value| {
                [&user, &first, call, &output, call, &output, &says, &user].map(Clone::clone)
            };
            assert!(check(&items(&call), &[0, 4, 5, 7]), "it has no id");
            call["id"] = json!("fc_1");
            let old = items(&call);
            assert!(check(&old, &[0, 1, 2, 3, 4, 5, 6, 7]));
            assert!(check(&old, &[0, 6, 7]), "of another response");
            assert!(!check(&old, &[0, 4, 5, 7]));
            assert!(!check(&old, &[0, 2, 7]));
            call.as_object_mut().expect("is one").remove("id");
        }
    }
}
