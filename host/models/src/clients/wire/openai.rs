//! The Chat Completions API of OpenAI, and its variants on other servers.

use serde_json::{Value, json};

use super::error_body::error_member;
use super::lenient::Lenient;
use super::{Reported, Unusable, object};
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

pub(super) fn answer(body: &[u8]) -> Result<Reported, Unusable> {
    let whole = object(body)?;
    let choice = whole.get("choices").first().object();
    let error = choice.unwrap_or(whole).get("error");
    if error.is_there() {
        return Err(Unusable::Error(error_member(error)));
    }
    let choice = choice.ok_or_else(|| Unusable::shape("no choice"))?;
    let message = choice.get("message").object();
    let message = message.ok_or_else(|| Unusable::shape("a choice without a message"))?;
    let reason = choice.get("finish_reason").text();
    let mut finish = match reason.as_deref().unwrap_or_default() {
        // OpenAI's value, and those of several local servers.
        "" | "stop" | "end_turn" | "eos" | "eos_token" | "stop_sequence" => Finish::Stop,
        "tool_calls" | "function_call" => Finish::Stop,
        "length" | "max_tokens" | "model_length" => Finish::Length,
        "content_filter" | "refusal" => Finish::Refusal,
        other => return Err(Unusable::reason(other)),
    };
    let refusal = message.get("refusal").text();
    if refusal.is_some_and(|refusal| !refusal.is_empty()) {
        finish = Finish::Refusal;
    }
    let calls = message.get("tool_calls").first().is_there()
        || message.get("function_call").is_there()
        || matches!(reason.as_deref(), Some("tool_calls" | "function_call"));
    let text = if calls {
        String::new()
    } else {
        text_of(message.get("content"))?
    };
    let usage = whole.get("usage");
    Ok(Reported {
        text,
        finish,
        input_tokens: usage.get("prompt_tokens").count(),
        output_tokens: usage.get("completion_tokens").count(),
    })
}

/// Reads content: a text, nothing, or parts.
fn text_of(content: Lenient<'_>) -> Result<String, Unusable> {
    if let Some(text) = content.text() {
        return Ok(text);
    }
    let mut text = String::new();
    let is_list = content.each(|part| {
        if part.get("type").text().as_deref() == Some("text") {
            text.push_str(&part.get("text").text().unwrap_or_default());
        }
    });
    if content.is_there() && !is_list {
        return Err(Unusable::shape("content that is not text"));
    }
    Ok(text)
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
