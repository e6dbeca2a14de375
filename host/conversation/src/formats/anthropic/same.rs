//! Messages that are the same to the API, whatever bytes spell them.
//!
//! Marks for the cache are not part of what a message says, and a text stands for a list with one
//! text block. Clients change both from request to request: Claude Code sends a message first as a
//! block with a mark, and later as a text.

use serde_json::{Value, json};

/// Whether two messages are the same to the API.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    match (without_marks(one), without_marks(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// A message with its content as a list of blocks without marks; `None` if it has no such content.
fn without_marks(message: &str) -> Option<Value> {
    let mut message: Value = serde_json::from_str(message).ok()?;
    let content = message.get_mut("content")?;
    if content.is_string() {
        let text = content.take();
        *content = json!([{"type": "text", "text": text}]);
    }
    for block in content.as_array_mut()? {
        remove_mark(block);
        let inner = block.get_mut("content").and_then(Value::as_array_mut);
        inner.into_iter().flatten().for_each(remove_mark);
    }
    Some(message)
}

fn remove_mark(block: &mut Value) {
    if let Some(block) = block.as_object_mut() {
        block.remove("cache_control");
    }
}

#[cfg(test)]
mod tests {
    use super::is_alike;

    #[test]
    fn marks_for_the_cache_and_the_spelling_of_a_text_make_no_difference() {
        let text = r#"{"role":"user","content":"Fix it."}"#;
        let marked = r#"{"role": "user", "content": [{"type": "text", "text": "Fix it.", "cache_control": {"type": "ephemeral"}}]}"#;
        assert!(is_alike(text, marked));
        assert!(is_alike(marked, text));
        let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ok","cache_control":{"type":"ephemeral"}}]}]}"#;
        let without = result.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
        assert!(is_alike(result, &without));
    }

    #[test]
    fn all_else_makes_a_difference() {
        let text = r#"{"role":"user","content":"Fix it."}"#;
        for other in [
            r#"{"role":"user","content":"Fix that."}"#,
            r#"{"role":"assistant","content":"Fix it."}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Fix it."},{"type":"text","text":"Now."}]}"#,
        ] {
            assert!(!is_alike(text, other), "{other}");
        }
        // What a call is made with is not a block, whatever it is called.
        let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"cache_control":1}}]}"#;
        assert!(!is_alike(
            call,
            &call.replace(r#"{"cache_control":1}"#, "{}")
        ));
        assert!(!is_alike("{", "["));
    }
}
