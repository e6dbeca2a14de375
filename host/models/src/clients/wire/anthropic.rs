//! The Messages API of Anthropic.

use serde_json::{Value, json};

use super::error_body::error_member;
use super::{Reported, Unusable, object};
use crate::{Finish, Question};

pub(super) fn question(model: &str, question: &Question, max_tokens: u32) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": max_tokens,
        "messages": [{"role": "user", "content": question.prompt}],
    });
    if let Some(instructions) = &question.instructions {
        body["system"] = json!(instructions);
    }
    body
}

pub(super) fn answer(body: &[u8]) -> Result<Reported, Unusable> {
    let whole = object(body)?;
    let error = whole.get("error");
    if error.is_there() {
        return Err(Unusable::Error(error_member(error)));
    }
    let mut text = String::new();
    let mut calls = false;
    let is_list = whole
        .get("content")
        .each(|block| match block.get("type").text().as_deref() {
            Some("text") => text.push_str(&block.get("text").text().unwrap_or_default()),
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => calls = true,
            _ => {}
        });
    if !is_list {
        return Err(Unusable::shape("no content"));
    }
    let reason = whole.get("stop_reason").text();
    let finish = match reason.as_deref().unwrap_or_default() {
        "" | "end_turn" | "stop_sequence" | "tool_use" => Finish::Stop,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Refusal,
        other => return Err(Unusable::reason(other)),
    };
    if calls || reason.as_deref() == Some("tool_use") {
        text.clear();
    }
    let usage = whole.get("usage");
    let input_tokens = usage.get("input_tokens").count().map(|input| {
        // Cached tokens are reported separately.
        ["cache_creation_input_tokens", "cache_read_input_tokens"]
            .into_iter()
            .filter_map(|name| usage.get(name).count())
            .fold(input, u64::saturating_add)
    });
    Ok(Reported {
        text,
        finish,
        input_tokens,
        output_tokens: usage.get("output_tokens").count(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_omits_thinking_and_counts_cached_tokens() {
        let body = r#"{"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"yes"}],
            "stop_reason":"end_turn",
            "usage":{"input_tokens":3,"cache_creation_input_tokens":5,"cache_read_input_tokens":null,"output_tokens":2}}"#;
        let reported = answer(body.as_bytes()).unwrap();
        assert_eq!(reported.text, "yes");
        assert_eq!(
            (reported.input_tokens, reported.output_tokens),
            (Some(8), Some(2))
        );
    }

    #[test]
    fn answer_rejects_a_paused_turn() {
        let reported =
            answer(br#"{"content":[{"type":"text","text":"half"}],"stop_reason":"pause_turn"}"#);
        assert!(
            matches!(reported, Err(Unusable::Invalid(_))),
            "{reported:?}"
        );
    }

    #[test]
    fn answer_rejects_other_shapes() {
        for body in [
            "[]",
            "7",
            "{}",
            r#"{"content":"text"}"#,
            r#"{"content":{}}"#,
        ] {
            assert!(
                matches!(answer(body.as_bytes()), Err(Unusable::Invalid(_))),
                "{body}"
            );
        }
    }
}
