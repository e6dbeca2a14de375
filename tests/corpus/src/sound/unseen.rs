//! Outputs that the model has not seen: those behind its last message.

use serde_json::Value;

use super::{Wrong, is_models, parts};

/// All of them are there, each under the name by which its call finds it, in the same order. Where
/// one is not the same text it is one that the host shortened.
pub(super) fn outputs_stay(before: &[Value], after: &[Value]) -> Result<(), Wrong> {
    let old = outputs(behind_the_model(before));
    let new = outputs(behind_the_model(after));
    // Where an answer of the model's was removed, older outputs stand behind its last message as well.
    let Some(older) = new.len().checked_sub(old.len()) else {
        return Err(Wrong::Lost("an output that the model has not seen left"));
    };
    for ((old_name, old), (new_name, new)) in old.iter().zip(&new[older..]) {
        if old_name != new_name {
            return Err(Wrong::Lost(
                "an output that the model has not seen answers another call",
            ));
        }
        let text = new.to_string();
        if old != new && !text.contains(r#"<baler:excerpt by=\"baler\""#) {
            return Err(Wrong::Verbatim(
                "an output that the model has not seen is neither whole nor shortened by the host",
            ));
        }
        if text.len() < old.to_string().len().min(LEAST) {
            return Err(Wrong::Lost(
                "almost nothing is left of an output that the model has not seen",
            ));
        }
    }
    Ok(())
}

/// Bytes that are left of an output at least: some lines and the mark around them.
const LEAST: usize = 300;

fn behind_the_model(values: &[Value]) -> &[Value] {
    let last = values.iter().rposition(is_models);
    &values[last.map_or(0, |last| last + 1)..]
}

/// The outputs of messages, each with the name by which its call finds it.
fn outputs(values: &[Value]) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for value in values {
        if value["role"] == "tool" || value["role"] == "function" {
            let name = [&value["tool_call_id"], &value["name"]];
            found.push((format!("{name:?}"), &value["content"]));
        }
        if value["type"]
            .as_str()
            .is_some_and(|kind| kind.ends_with("_output"))
        {
            found.push((format!("{:?}", value["call_id"]), &value["output"]));
        }
        for part in parts(value) {
            if part["type"] == "tool_result" {
                found.push((format!("{:?}", part["tool_use_id"]), &part["content"]));
            }
            if let Some(result) = part.get("toolResult") {
                found.push((format!("{:?}", result["toolUseId"]), &result["content"]));
            }
            for key in ["functionResponse", "function_response"] {
                if let Some(response) = part.get(key) {
                    let name = [&response["id"], &response["name"]];
                    found.push((format!("{name:?}"), &response["response"]));
                }
            }
        }
    }
    found
}
