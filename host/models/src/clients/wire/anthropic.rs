//! The Messages API of Anthropic.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::error_body::error_member;
use super::lenient::{count, each, read};
use super::{Reported, Unusable};
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

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    stop_reason: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    text: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(borrow)]
    input_tokens: Option<&'a RawValue>,
    cache_creation_input_tokens: Option<&'a RawValue>,
    cache_read_input_tokens: Option<&'a RawValue>,
    output_tokens: Option<&'a RawValue>,
}

pub(super) fn answer(body: &[u8]) -> Result<Reported, Unusable> {
    let whole: Body<'_> =
        serde_json::from_slice(body).map_err(|error| Unusable::json(&error, body))?;
    if whole.error.is_some() {
        return Err(Unusable::Error(error_member(whole.error)));
    }
    let mut text = String::new();
    let mut calls = false;
    let is_list = each(whole.content, |block| {
        let Some(block) = read::<Block<'_>>(Some(block)) else {
            return;
        };
        match read::<String>(block.kind).as_deref() {
            Some("text") => text.push_str(&read::<String>(block.text).unwrap_or_default()),
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => calls = true,
            _ => {}
        }
    });
    if !is_list {
        return Err(Unusable::shape("no content"));
    }
    let reason: Option<String> = read(whole.stop_reason);
    let finish = match reason.as_deref().unwrap_or_default() {
        "" | "end_turn" | "stop_sequence" | "tool_use" => Finish::Stop,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Refusal,
        other => return Err(Unusable::reason(other)),
    };
    if calls || reason.as_deref() == Some("tool_use") {
        text.clear();
    }
    let usage: Option<Usage<'_>> = read(whole.usage);
    let input_tokens = usage.as_ref().and_then(|usage| {
        // Cached tokens are reported separately.
        let cached = [
            usage.cache_creation_input_tokens,
            usage.cache_read_input_tokens,
        ];
        let cached = cached
            .into_iter()
            .filter_map(count)
            .fold(0, u64::saturating_add);
        count(usage.input_tokens).map(|input| input.saturating_add(cached))
    });
    Ok(Reported {
        text,
        finish,
        input_tokens,
        output_tokens: usage.and_then(|usage| count(usage.output_tokens)),
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
