//! The Chat Completions API of OpenAI, and its variants on other servers.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::error_body::error_member;
use super::lenient::{count, each, first, read};
use super::{Reported, Unusable};
use crate::{Finish, Question};

/// `limit` is the name of the field that limits the answer, which differs between servers.
pub(super) fn question(model: &str, question: &Question, limit: &str, max_tokens: u32) -> Value {
    let mut messages = Vec::new();
    if let Some(instructions) = &question.instructions {
        messages.push(json!({"role": "system", "content": instructions}));
    }
    messages.push(json!({"role": "user", "content": question.prompt}));
    json!({"model": model, "messages": messages, "stream": false, limit: max_tokens})
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    choices: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    finish_reason: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    refusal: Option<&'a RawValue>,
    tool_calls: Option<&'a RawValue>,
    function_call: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    text: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(borrow)]
    prompt_tokens: Option<&'a RawValue>,
    completion_tokens: Option<&'a RawValue>,
}

pub(super) fn answer(body: &[u8]) -> Result<Reported, Unusable> {
    let whole: Body<'_> =
        serde_json::from_slice(body).map_err(|error| Unusable::json(&error, body))?;
    let Some(choice) = read::<Choice<'_>>(first(whole.choices)) else {
        if whole.error.is_some() {
            return Err(Unusable::Error(error_member(whole.error)));
        }
        return Err(Unusable::shape("no choice"));
    };
    if choice.error.is_some() {
        return Err(Unusable::Error(error_member(choice.error)));
    }
    let message: Message<'_> =
        read(choice.message).ok_or_else(|| Unusable::shape("a choice without a message"))?;
    let reason: Option<String> = read(choice.finish_reason);
    let mut finish = match reason.as_deref().unwrap_or_default() {
        // OpenAI's value, and those of several local servers.
        "" | "stop" | "end_turn" | "eos" | "eos_token" | "stop_sequence" => Finish::Stop,
        "tool_calls" | "function_call" => Finish::Stop,
        "length" | "max_tokens" | "model_length" => Finish::Length,
        "content_filter" | "refusal" => Finish::Refusal,
        other => return Err(Unusable::reason(other)),
    };
    if read(message.refusal).is_some_and(|refusal: String| !refusal.is_empty()) {
        finish = Finish::Refusal;
    }
    let calls = first(message.tool_calls).is_some() || message.function_call.is_some();
    let text = if calls || matches!(reason.as_deref(), Some("tool_calls" | "function_call")) {
        String::new()
    } else {
        text_of(message.content)?
    };
    let usage: Option<Usage<'_>> = read(whole.usage);
    Ok(Reported {
        text,
        finish,
        input_tokens: usage.as_ref().and_then(|usage| count(usage.prompt_tokens)),
        output_tokens: usage.and_then(|usage| count(usage.completion_tokens)),
    })
}

/// Reads content: a text, nothing, or parts.
fn text_of(content: Option<&RawValue>) -> Result<String, Unusable> {
    let Some(raw) = content else {
        return Ok(String::new());
    };
    if let Some(text) = read(content) {
        return Ok(text);
    }
    let mut text = String::new();
    let is_list = each(Some(raw), |part| {
        let Some(part) = read::<Part<'_>>(Some(part)) else {
            return;
        };
        if read::<String>(part.kind).as_deref() == Some("text") {
            text.push_str(&read::<String>(part.text).unwrap_or_default());
        }
    });
    is_list
        .then_some(text)
        .ok_or_else(|| Unusable::shape("content that is not text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_choice(choice: &str) -> Result<Reported, Unusable> {
        answer(format!(r#"{{"choices":[{choice}]}}"#).as_bytes())
    }

    #[test]
    fn answer_reads_content_as_text_parts_or_nothing() {
        for (content, text) in [
            (r#""yes""#, "yes"),
            (
                r#"[{"type":"text","text":"y"},{"type":"text","text":"es"}]"#,
                "yes",
            ),
            (
                r#"[{"type":"thinking","thinking":"hm"},{"type":"text","text":"yes"},7]"#,
                "yes",
            ),
            ("null", ""),
            ("[]", ""),
        ] {
            let reported =
                read_choice(&format!(r#"{{"message":{{"content":{content}}}}}"#)).unwrap();
            assert_eq!(reported.text, text, "{content}");
        }
        for content in ["7", "{}", "true"] {
            let reported = read_choice(&format!(r#"{{"message":{{"content":{content}}}}}"#));
            assert!(matches!(reported, Err(Unusable::Invalid(_))), "{content}");
        }
    }

    #[test]
    fn answer_rejects_an_unknown_finish_reason() {
        let reported = read_choice(
            r#"{"message":{"content":"half"},"finish_reason":"insufficient_system_resource"}"#,
        );
        let Err(Unusable::Invalid(reason)) = reported else {
            panic!("{reported:?}");
        };
        assert!(reason.contains("insufficient_system_resource"), "{reason}");
    }

    #[test]
    fn answer_finds_an_error_in_a_body_with_status_200() {
        for body in [
            r#"{"error":{"code":429,"message":"slow"}}"#,
            r#"{"choices":[{"error":{"code":429,"message":"slow"},"finish_reason":"error"}]}"#,
            r#"{"choices":[],"error":{"code":429,"message":"slow"}}"#,
        ] {
            let Err(Unusable::Error(error)) = answer(body.as_bytes()) else {
                panic!("{body}");
            };
            assert_eq!(error.status(), Some(429));
        }
    }

    #[test]
    fn answer_rejects_other_shapes() {
        for body in [
            "[]",
            "7",
            "{}",
            r#"{"choices":{}}"#,
            r#"{"choices":[7]}"#,
            r#"{"choices":[{}]}"#,
        ] {
            assert!(
                matches!(answer(body.as_bytes()), Err(Unusable::Invalid(_))),
                "{body}"
            );
        }
    }
}
