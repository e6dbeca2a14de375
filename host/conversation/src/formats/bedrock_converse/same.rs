//! Messages that are the same to the API, whatever bytes spell them. Marks for the cache are no part of
//! what a message says, and clients move them to the newest message of each request.

use serde_json::Value;

use super::read::CACHE_POINT;

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

/// A message without marks; `None` if it has no list of blocks.
fn without_marks(message: &str) -> Option<Value> {
    let mut message: Value = serde_json::from_str(message).ok()?;
    let blocks = message.get_mut("content")?.as_array_mut()?;
    blocks.retain(|block| block.get(CACHE_POINT).is_none());
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::is_alike;

    #[test]
    fn marks_for_the_cache_make_no_difference_and_all_else_does() {
        let text = r#"{"role":"user","content":[{"text":"潮汐表を見て。"}]}"#;
        let marked = r#"{"role": "user", "content": [{"text": "潮汐表を見て。"}, {"cachePoint": {"type": "default"}}]}"#;
        assert!(is_alike(text, marked));
        assert!(is_alike(marked, text));
        for other in [
            r#"{"role":"user","content":[{"text":"潮汐表を消して。"}]}"#,
            r#"{"role":"assistant","content":[{"text":"潮汐表を見て。"}]}"#,
            r#"{"role":"user","content":"潮汐表を見て。"}"#,
            "{",
        ] {
            assert!(!is_alike(marked, other), "{other}");
        }
    }
}
