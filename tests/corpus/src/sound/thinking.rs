//! Thinking that left a message which stayed.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The message without its thinking, and else byte for byte the same; none where it has none, or
/// nothing else.
pub(super) fn left_out(message: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        content: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Kind {
        #[serde(rename = "type")]
        kind: String,
    }
    let list = serde_json::from_str::<Message<'_>>(message)
        .ok()?
        .content
        .get();
    let blocks: Vec<&RawValue> = serde_json::from_str(list).ok()?;
    let is_thinking = |block: &RawValue| {
        serde_json::from_str::<Kind>(block.get())
            .is_ok_and(|block| matches!(&*block.kind, "thinking" | "redacted_thinking"))
    };
    let rest: Vec<&str> = blocks
        .iter()
        .filter(|block| !is_thinking(block))
        .map(|block| block.get())
        .collect();
    if rest.is_empty() || rest.len() == blocks.len() {
        return None;
    }
    let start = list.as_ptr() as usize - message.as_ptr() as usize;
    let (head, tail) = (&message[..start], &message[start + list.len()..]);
    Some(format!("{head}[{}]{tail}", rest.join(",")))
}

/// Whether the turn of a message is over: an answer without calls, and words of the user's behind
/// it.
pub(super) fn is_finished(messages: &[Value], at: usize) -> bool {
    let has = |message: &Value, kind: &str| {
        let blocks = message["content"].as_array();
        blocks.is_some_and(|blocks| blocks.iter().any(|block| block["type"] == kind))
    };
    messages[at..].windows(2).any(|pair| {
        pair[0]["role"] == "assistant"
            && !has(&pair[0], "tool_use")
            && pair[1]["role"] == "user"
            && (pair[1]["content"].is_string() || !has(&pair[1], "tool_result"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_its_thinking_is_else_the_same() {
        let message = r#"{"role": "assistant",  "content": [ {"type": "thinking", "thinking": "a", "signature": "b"},{ "text" : "Hi", "type":"text"} ], "x": 1.0}"#;
        let wanted =
            r#"{"role": "assistant",  "content": [{ "text" : "Hi", "type":"text"}], "x": 1.0}"#;
        assert_eq!(left_out(message).as_deref(), Some(wanted));
        assert_eq!(left_out(wanted), None);
        assert_eq!(left_out(r#"{"content": "Hi"}"#), None);
        assert_eq!(left_out(r#"{"content": [{"type": "thinking"}]}"#), None);
    }

    #[test]
    fn a_turn_is_finished_when_the_user_answers_an_answer() {
        let call = serde_json::json!({"role": "assistant", "content": [{"type": "tool_use"}]});
        let output = serde_json::json!({"role": "user", "content": [{"type": "tool_result"}]});
        let answer = serde_json::json!({"role": "assistant", "content": [{"type": "text"}]});
        let words = serde_json::json!({"role": "user", "content": "Go on."});
        let all = [call, output, answer, words].to_vec();
        assert!(is_finished(&all, 0) && is_finished(&all, 2));
        assert!(!is_finished(&all[..3], 0) && !is_finished(&all, 3));
    }
}
