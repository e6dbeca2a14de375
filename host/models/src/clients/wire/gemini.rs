//! The `generateContent` method of Gemini.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::error_body::error_member;
use super::lenient::{count, each, first, read};
use super::{Reported, Unusable};
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(borrow)]
    candidates: Option<&'a RawValue>,
    prompt_feedback: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    usage_metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    finish_reason: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    thought: Option<&'a RawValue>,
    function_call: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow)]
    block_reason: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage<'a> {
    #[serde(borrow)]
    prompt_token_count: Option<&'a RawValue>,
    candidates_token_count: Option<&'a RawValue>,
    thoughts_token_count: Option<&'a RawValue>,
}

pub(super) fn answer(body: &[u8]) -> Result<Reported, Unusable> {
    let whole: Body<'_> =
        serde_json::from_slice(body).map_err(|error| Unusable::json(&error, body))?;
    if whole.error.is_some() {
        return Err(Unusable::Error(error_member(whole.error)));
    }
    let (text, finish) = match read::<Candidate<'_>>(first(whole.candidates)) {
        Some(candidate) => text_of(&candidate)?,
        None if is_blocked(whole.prompt_feedback) => (String::new(), Finish::Refusal),
        None => return Err(Unusable::shape("no candidate")),
    };
    let usage: Option<Usage<'_>> = read(whole.usage_metadata);
    let output_tokens = usage.as_ref().and_then(|usage| {
        let counts = [usage.candidates_token_count, usage.thoughts_token_count];
        counts
            .into_iter()
            .filter_map(count)
            .reduce(u64::saturating_add)
    });
    Ok(Reported {
        text,
        finish,
        input_tokens: usage.and_then(|usage| count(usage.prompt_token_count)),
        output_tokens,
    })
}

fn text_of(candidate: &Candidate<'_>) -> Result<(String, Finish), Unusable> {
    let reason: Option<String> = read(candidate.finish_reason);
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
    let content: Option<Content<'_>> = read(candidate.content);
    if content.is_none() && reason.is_none() {
        return Err(Unusable::shape("a candidate without content"));
    }
    let parts = content.and_then(|content| content.parts);
    let is_list = each(parts, |part| {
        let Some(part) = read::<Part<'_>>(Some(part)) else {
            return;
        };
        calls |= part.function_call.is_some();
        if read(part.thought) != Some(true) {
            text.push_str(&read::<String>(part.text).unwrap_or_default());
        }
    });
    if parts.is_some() && !is_list {
        return Err(Unusable::shape("parts that are not a list"));
    }
    if calls {
        text.clear();
    }
    Ok((text, finish))
}

fn is_blocked(feedback: Option<&RawValue>) -> bool {
    read(feedback).is_some_and(|feedback: Feedback<'_>| feedback.block_reason.is_some())
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
