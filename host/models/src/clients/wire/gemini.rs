//! The `generateContent` method of Gemini.

use serde_json::{Value, json};

use super::error_body::error_member;
use super::lenient::Lenient;
use super::{Reported, Unusable, object};
use crate::{Finish, Question};

pub(super) fn question(question: &Question, max_tokens: u32) -> Value {
    let mut body = json!({
        "contents": [{"role": "user", "parts": [{"text": question.prompt}]}],
        "generationConfig": {"maxOutputTokens": max_tokens},
    });
    if let Some(instructions) = &question.instructions {
        body["systemInstruction"] = json!({"parts": [{"text": instructions}]});
    }
    body
}

pub(super) fn answer(body: &[u8]) -> Result<Reported, Unusable> {
    let whole = object(body)?;
    let error = whole.get("error");
    if error.is_there() {
        return Err(Unusable::Error(error_member(error)));
    }
    let is_blocked = whole.get("promptFeedback").get("blockReason").is_there();
    let (text, finish) = match whole.get("candidates").first().object() {
        Some(candidate) => text_of(candidate)?,
        None if is_blocked => (String::new(), Finish::Refusal),
        None => return Err(Unusable::shape("no candidate")),
    };
    let usage = whole.get("usageMetadata");
    let output_tokens = ["candidatesTokenCount", "thoughtsTokenCount"]
        .into_iter()
        .filter_map(|name| usage.get(name).count())
        .reduce(u64::saturating_add);
    Ok(Reported {
        text,
        finish,
        input_tokens: usage.get("promptTokenCount").count(),
        output_tokens,
    })
}

fn text_of(candidate: Lenient<'_>) -> Result<(String, Finish), Unusable> {
    let reason = candidate.get("finishReason").text();
    let finish = match reason.as_deref() {
        None | Some("STOP" | "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => Finish::Stop,
        Some("MAX_TOKENS") => Finish::Length,
        Some(
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY",
        ) => Finish::Refusal,
        Some(other) => return Err(Unusable::reason(other)),
    };
    let mut text = String::new();
    let mut calls = matches!(
        reason.as_deref(),
        Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL")
    );
    // An answer that was cut off while thinking has no parts, and a refused one has no content.
    let content = candidate.get("content");
    if content.object().is_none() && reason.is_none() {
        return Err(Unusable::shape("a candidate without content"));
    }
    let parts = content.get("parts");
    let is_list = parts.each(|part| {
        calls |= part.get("functionCall").is_there();
        if part.get("thought").read() != Some(true) {
            text.push_str(&part.get("text").text().unwrap_or_default());
        }
    });
    if parts.is_there() && !is_list {
        return Err(Unusable::shape("parts that are not a list"));
    }
    if calls {
        text.clear();
    }
    Ok((text, finish))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_omits_thoughts_and_counts_their_tokens() {
        let body = r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"yes"}],"role":"model"},
            "finishReason":"STOP"}],
            "usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":1,"thoughtsTokenCount":6}}"#;
        let reported = answer(body.as_bytes()).unwrap();
        assert_eq!(reported.text, "yes");
        assert_eq!(
            (reported.input_tokens, reported.output_tokens),
            (Some(4), Some(7))
        );
    }

    #[test]
    fn answer_reads_a_blocked_question_as_a_refusal() {
        let reported =
            answer(br#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#).unwrap();
        assert_eq!(
            (reported.text.as_str(), reported.finish),
            ("", Finish::Refusal)
        );
    }

    #[test]
    fn answer_reads_a_candidate_that_was_cut_off_while_thinking() {
        let reported =
            answer(br#"{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}]}"#);
        let reported = reported.unwrap();
        assert_eq!(
            (reported.text.as_str(), reported.finish),
            ("", Finish::Length)
        );
    }

    #[test]
    fn answer_rejects_other_shapes() {
        for body in [
            "[]",
            "7",
            "{}",
            r#"{"candidates":[]}"#,
            r#"{"candidates":[{}]}"#,
            r#"{"candidates":[{"content":{"parts":"yes"}}]}"#,
            r#"{"candidates":[{"content":{},"finishReason":"OTHER"}]}"#,
        ] {
            assert!(
                matches!(answer(body.as_bytes()), Err(Unusable::Invalid(_))),
                "{body}"
            );
        }
    }
}
