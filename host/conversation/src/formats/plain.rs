//! Messages without what clients change from request to request.
//!
//! Marks for the cache are not part of what a message says, and a text stands for a list with one
//! text block. Claude Code sends a message first as a block with a mark, and later as a text.

use std::borrow::Cow;

use serde_json::Value;

/// What marks a message for the cache: a member of a block, and a block of its own in Bedrock Converse.
const MARK: &str = "cache_control";
const MARK_BLOCK: &str = "cachePoint";

/// Whether two messages, as JSON, are the same to the provider.
pub(crate) fn is_alike(one: &str, other: &str) -> bool {
    one == other || plain(one).is_some_and(|one| Some(one) == plain(other))
}

/// Returns a message, as JSON, without its marks for the cache; itself if it has none.
pub(crate) fn unmarked(message: &str) -> Cow<'_, str> {
    let has_mark = [MARK, MARK_BLOCK]
        .iter()
        .any(|mark| message.contains(&format!("\"{mark}\"")));
    let mut read = has_mark
        .then(|| serde_json::from_str::<Value>(message).ok())
        .flatten();
    match &mut read {
        None => Cow::Borrowed(message),
        Some(read) => {
            read.get_mut("content").map(unmark);
            Cow::Owned(read.to_string())
        }
    }
}

/// Returns a message, as JSON, without its marks, and with a text for a list of one text block; `None` if it is not JSON.
pub(crate) fn plain(message: &str) -> Option<Value> {
    let mut message: Value = serde_json::from_str(message).ok()?;
    if let Some(content) = message.get_mut("content") {
        unmark(content);
        join_only_texts(content);
    }
    Some(message)
}

/// Removes the marks of a content, and of the contents of its results.
fn unmark(content: &mut Value) {
    let Some(blocks) = content.as_array_mut() else {
        return;
    };
    blocks.retain(|block| block.get(MARK_BLOCK).is_none());
    for block in blocks.iter_mut().filter_map(Value::as_object_mut) {
        block.remove(MARK);
        block.get_mut("content").map(unmark);
        let result = block.get_mut("toolResult");
        let result = result.and_then(|result| result.get_mut("content"));
        result.map(unmark);
    }
}

/// Makes a text of a content, and of the contents of its results, that is a list of one text block.
fn join_only_texts(content: &mut Value) {
    let Some(blocks) = content.as_array_mut() else {
        return;
    };
    for block in blocks.iter_mut() {
        block.get_mut("content").map(join_only_texts);
    }
    if let [Value::Object(block)] = blocks.as_mut_slice()
        && block
            .iter()
            .all(|(name, _)| name == "type" || name == "text")
        && let Some(text @ Value::String(_)) = block.get_mut("text")
    {
        *content = text.take();
    }
}

#[cfg(test)]
mod tests {
    use super::{is_alike, unmarked};

    #[test]
    fn marks_for_the_cache_and_the_spelling_of_a_text_make_no_difference() {
        let text = r#"{"role":"user","content":"Fix it."}"#;
        let marked = r#"{"role": "user", "content": [{"type": "text", "text": "Fix it.", "cache_control": {"type": "ephemeral"}}]}"#;
        assert!(is_alike(text, marked));
        assert!(is_alike(marked, text));
        let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ok","cache_control":{"type":"ephemeral"}}]}]}"#;
        let without = result.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
        assert!(is_alike(result, &without));
        let of_bedrock = r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"ok"}]}},{"cachePoint":{"type":"default"}}]}"#;
        let without = of_bedrock.replace(r#",{"cachePoint":{"type":"default"}}"#, "");
        assert!(is_alike(of_bedrock, &without));
    }

    #[test]
    fn a_message_without_marks_is_the_same_otherwise() {
        let marked = r#"{"content":[{"cache_control":{"type":"ephemeral"},"text":"潮","type":"text"},{"text":"b","type":"text"}],"role":"user"}"#;
        let plain =
            r#"{"content":[{"text":"潮","type":"text"},{"text":"b","type":"text"}],"role":"user"}"#;
        assert_eq!(unmarked(marked), plain);
        let other = r#"{"role": "user", "content": "Where is the cachePoint? \\ud83d\\ude00"}"#;
        assert_eq!(unmarked(other), other);
    }

    #[test]
    fn all_else_makes_a_difference() {
        let text = r#"{"role":"user","content":"Fix it."}"#;
        for other in [
            r#"{"role":"user","content":"Fix that."}"#,
            r#"{"role":"assistant","content":"Fix it."}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Fix it."},{"type":"text","text":"Now."}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Fix it.","citations":[]}]}"#,
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
