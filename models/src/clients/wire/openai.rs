//! OpenAI's Chat Completions, and what others make of it.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::complaint::of_error;
use super::lenient::{count, each, first, read};
use super::{Said, Unread};
use crate::{Finish, Question};

/// `limit` is the field that bounds the answer; it is not the same everywhere.
pub(super) fn question(model: &str, question: &Question, limit: &str, most: u32) -> Value {
    let mut messages = Vec::new();
    if !question.instructions.is_empty() {
        messages.push(json!({"role": "system", "content": question.instructions}));
    }
    messages.push(json!({"role": "user", "content": question.prompt}));
    json!({"model": model, "messages": messages, "stream": false, limit: most})
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

pub(super) fn answer(body: &[u8]) -> Result<Said, Unread> {
    let whole: Body<'_> =
        serde_json::from_slice(body).map_err(|error| Unread::json(&error, body))?;
    let Some(choice) = read::<Choice<'_>>(first(whole.choices)) else {
        if whole.error.is_some() {
            return Err(Unread::Complaint(of_error(whole.error)));
        }
        return Err(Unread::shape("no choice"));
    };
    if choice.error.is_some() {
        return Err(Unread::Complaint(of_error(choice.error)));
    }
    let message: Message<'_> =
        read(choice.message).ok_or_else(|| Unread::shape("a choice without a message"))?;
    let reason: Option<String> = read(choice.finish_reason);
    let mut finish = match reason.as_deref().unwrap_or_default() {
        // Several spellings of local servers beside OpenAI's.
        "" | "stop" | "end_turn" | "eos" | "eos_token" | "stop_sequence" => Finish::Stop,
        "tool_calls" | "function_call" => Finish::Stop,
        "length" | "max_tokens" | "model_length" => Finish::Length,
        "content_filter" | "refusal" => Finish::Refusal,
        other => return Err(Unread::reason(other)),
    };
    if read(message.refusal).is_some_and(|refusal: String| !refusal.is_empty()) {
        finish = Finish::Refusal;
    }
    let calls = first(message.tool_calls).is_some() || message.function_call.is_some();
    let text = if calls || matches!(reason.as_deref(), Some("tool_calls" | "function_call")) {
        String::new()
    } else {
        text(message.content)?
    };
    let usage: Option<Usage<'_>> = read(whole.usage);
    Ok(Said {
        text,
        finish,
        input_tokens: usage.as_ref().and_then(|usage| count(usage.prompt_tokens)),
        output_tokens: usage.and_then(|usage| count(usage.completion_tokens)),
    })
}

/// A text, nothing, or parts.
fn text(content: Option<&RawValue>) -> Result<String, Unread> {
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
        .ok_or_else(|| Unread::shape("a content that is no text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_choice(choice: &str) -> Result<Said, Unread> {
        answer(format!(r#"{{"choices":[{choice}]}}"#).as_bytes())
    }

    #[test]
    fn content_is_a_text_or_parts_or_nothing() {
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
            let said = read_choice(&format!(r#"{{"message":{{"content":{content}}}}}"#)).unwrap();
            assert_eq!(said.text, text, "{content}");
        }
        for content in ["7", "{}", "true"] {
            let said = read_choice(&format!(r#"{{"message":{{"content":{content}}}}}"#));
            assert!(matches!(said, Err(Unread::Senseless(_))), "{content}");
        }
    }

    #[test]
    fn an_answer_that_ended_for_an_unknown_reason_is_none() {
        let said = read_choice(
            r#"{"message":{"content":"half"},"finish_reason":"insufficient_system_resource"}"#,
        );
        let Err(Unread::Senseless(reason)) = said else {
            panic!("{said:?}");
        };
        assert!(reason.contains("insufficient_system_resource"), "{reason}");
    }

    #[test]
    fn an_error_with_status_200_is_an_error() {
        for body in [
            r#"{"error":{"code":429,"message":"slow"}}"#,
            r#"{"choices":[{"error":{"code":429,"message":"slow"},"finish_reason":"error"}]}"#,
            r#"{"choices":[],"error":{"code":429,"message":"slow"}}"#,
        ] {
            let Err(Unread::Complaint(complaint)) = answer(body.as_bytes()) else {
                panic!("{body}");
            };
            assert_eq!(complaint.status(), Some(429));
        }
    }

    #[test]
    fn shapes_that_make_no_sense_are_told() {
        for body in [
            "[]",
            "7",
            "{}",
            r#"{"choices":{}}"#,
            r#"{"choices":[7]}"#,
            r#"{"choices":[{}]}"#,
        ] {
            assert!(
                matches!(answer(body.as_bytes()), Err(Unread::Senseless(_))),
                "{body}"
            );
        }
    }
}
