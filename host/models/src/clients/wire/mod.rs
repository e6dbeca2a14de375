//! The protocols: how each writes questions, answers and errors.
//!
//! Replies are untrusted. Only the values that are needed are read, so a body of millions of small values
//! uses no more memory than its bytes.

mod anthropic;
mod error_body;
mod gemini;
mod lenient;
mod openai;

use reqwest::Url;
use serde_json::{Map, Value};

pub(super) use self::error_body::{ErrorBody, error_body};
use self::lenient::Lenient;
use super::base_url::BaseUrl;
use crate::{Answer, Finish, Provider, Question};

/// An answer as the server reported it.
#[derive(Debug)]
pub(super) struct Reported {
    text: String,
    finish: Finish,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

/// Why a body with status 200 is no answer.
#[derive(Debug)]
pub(super) enum Unusable {
    /// The JSON ends in the middle.
    BrokeOff,
    /// The body is that of an error.
    Error(ErrorBody),
    /// The body is something else. The text says what, and may quote the server.
    Invalid(String),
}

/// Returns the URL that questions to a model are sent to.
pub(super) fn endpoint(provider: Provider, base_url: &BaseUrl, model: &str) -> Url {
    match provider {
        Provider::OpenAi | Provider::Compatible => base_url.join(&["chat", "completions"]),
        Provider::Anthropic => base_url.join(&["messages"]),
        Provider::Gemini => {
            let model = model.trim_start_matches("models/");
            base_url.join(&["models", &format!("{model}:generateContent")])
        }
    }
}

/// Writes the body of a question whose answer has at most `max_tokens` tokens, and merges `extra_fields` into
/// it.
pub(super) fn question(
    provider: Provider,
    model: &str,
    question: &Question,
    max_tokens: u32,
    extra_fields: &Map<String, Value>,
) -> Vec<u8> {
    let mut body = match provider {
        Provider::OpenAi => openai::question(model, question, "max_completion_tokens", max_tokens),
        // All compatible servers know this name.
        Provider::Compatible => openai::question(model, question, "max_tokens", max_tokens),
        Provider::Anthropic => anthropic::question(model, question, max_tokens),
        Provider::Gemini => gemini::question(question, max_tokens),
    };
    merge(&mut body, extra_fields);
    body.to_string().into_bytes()
}

/// Sets fields of an object, and merges objects within it.
fn merge(body: &mut Value, fields: &Map<String, Value>) {
    for (name, value) in fields {
        match (&mut body[name], value) {
            (inner @ Value::Object(_), Value::Object(fields)) => merge(inner, fields),
            (place, value) => *place = value.clone(),
        }
    }
}

/// Reads an answer.
pub(super) fn answer(provider: Provider, body: &[u8]) -> Result<Reported, Unusable> {
    let mut reported = match provider {
        Provider::OpenAi | Provider::Compatible => openai::answer(body),
        Provider::Anthropic => anthropic::answer(body),
        Provider::Gemini => gemini::answer(body),
    }?;
    if provider == Provider::Compatible {
        let is_cut_off = reported.finish == Finish::Length;
        reported.text = without_thinking(reported.text, is_cut_off);
    }
    Ok(reported)
}

/// Reads a body as an object.
fn object(body: &[u8]) -> Result<Lenient<'_>, Unusable> {
    let whole = Lenient::parse(body).map_err(|error| Unusable::json(&error, body))?;
    whole.object().ok_or_else(|| {
        Unusable::Invalid("the answer does not have the provider's JSON shape".to_owned())
    })
}

/// Removes thinking from the start of the text, where local servers without a parser for it leave it.
fn without_thinking(text: String, is_cut_off: bool) -> String {
    let Some(thinking) = text.trim_start().strip_prefix("<think>") else {
        return match after_thinking(&text) {
            Some(answer) => answer.trim_start().to_owned(),
            None => text,
        };
    };
    match thinking.split_once("</think>") {
        Some((_, answer)) => answer.trim_start().to_owned(),
        None if is_cut_off => String::new(),
        None => text,
    }
}

/// Returns the text after thinking that has only a closing tag: the chat templates of some models
/// (DeepSeek-R1, Qwen3-Thinking) put the opening tag into the prompt. A tag in quotes is only mentioned.
fn after_thinking(text: &str) -> Option<&str> {
    const END: &str = "</think>";
    let before_opening = match text.find("<think>") {
        Some(opening) => &text[..opening],
        None => text,
    };
    let closings = before_opening.match_indices(END);
    closings
        .map(|(at, _)| (&text[..at], &text[at + END.len()..]))
        .find(|(thinking, answer)| {
            let quote = thinking.chars().next_back();
            let is_quoted = quote.is_some_and(|quote| matches!(quote, '`' | '"' | '\''));
            !is_quoted || answer.chars().next() != quote
        })
        .map(|(_, answer)| answer)
}

impl Reported {
    /// Converts to an answer, and estimates the tokens that the provider did not count.
    pub(super) fn into_answer(self, question: &Question) -> Answer {
        let instructions = question.instructions.as_deref().unwrap_or_default();
        let question_bytes = instructions.len() + question.prompt.len();
        let estimate = |bytes: usize| bytes.div_ceil(4) as u64;
        let counted = |tokens: Option<u64>, bytes: usize| {
            let tokens = tokens
                .filter(|tokens| *tokens > 0 || bytes == 0)
                .unwrap_or_else(|| estimate(bytes));
            u32::try_from(tokens).unwrap_or(u32::MAX)
        };
        let input_tokens = counted(self.input_tokens, question_bytes);
        let output_tokens = counted(self.output_tokens, self.text.len());
        Answer::new(self.text, self.finish).with_usage(input_tokens, output_tokens)
    }
}

impl Unusable {
    /// Describes what is wrong with the JSON of a body.
    fn json(error: &serde_json::Error, body: &[u8]) -> Self {
        if error.is_eof() {
            return Self::BrokeOff;
        }
        let start = body.trim_ascii_start();
        Self::Invalid(if start.starts_with(b"<") {
            "the answer is a page of HTML or XML, not JSON; is the base URL right?".to_owned()
        } else {
            "the answer is not JSON".to_owned()
        })
    }

    fn shape(what: &str) -> Self {
        Self::Invalid(format!("the answer has {what}"))
    }

    /// An answer that ended for an unknown reason counts as unfinished.
    fn reason(reason: &str) -> Self {
        Self::Invalid(format!("the answer ended for the reason `{reason}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(text: &str, tokens: Option<u64>) -> Reported {
        Reported {
            text: text.to_owned(),
            finish: Finish::Stop,
            input_tokens: tokens,
            output_tokens: tokens,
        }
    }

    #[test]
    fn into_answer_estimates_tokens_that_were_not_counted() {
        let question = Question::new("12345", 1).with_instructions("1234");
        for (tokens, input, output) in [
            (None, 3, 2),
            (Some(0), 3, 2),
            (Some(9), 9, 9),
            (Some(u64::MAX), u32::MAX, u32::MAX),
        ] {
            let answer = reported("12345678", tokens).into_answer(&question);
            let usage = (answer.input_tokens, answer.output_tokens);
            assert_eq!(usage, (Some(input), Some(output)));
        }
        let empty = reported("", Some(0)).into_answer(&question);
        assert_eq!(empty.output_tokens, Some(0));
    }

    #[test]
    fn without_thinking_keeps_only_the_answer() {
        for (text, cut, left) in [
            ("<think>hm</think>\n\nyes", false, "yes"),
            ("\n<think>\n</think>yes", false, "yes"),
            ("<think>hm", true, ""),
            ("<think>hm", false, "<think>hm"),
            (
                "they wrote <think>x</think>",
                false,
                "they wrote <think>x</think>",
            ),
            ("hm\n</think>\n\nyes", false, "yes"),
            ("hm</think>yes", false, "yes"),
            ("</think>\n\nyes, </think> too", false, "yes, </think> too"),
            ("hm: `</think>` ends it\n</think>\n\nyes", false, "yes"),
            ("hm\n</think>\n\n", false, ""),
            ("yes, `</think>` ends it", false, "yes, `</think>` ends it"),
            (
                "yes, \"</think>\" ends it",
                false,
                "yes, \"</think>\" ends it",
            ),
        ] {
            assert_eq!(without_thinking(text.to_owned(), cut), left);
        }
    }

    #[test]
    fn answer_rejects_truncated_and_corrupted_bodies() {
        for (provider, body) in [
            (
                Provider::OpenAi,
                r#"{"choices":[{"message":{"content":"yes","refusal":null,"tool_calls":[]},"finish_reason":"stop"}],
                    "usage":{"prompt_tokens":10,"completion_tokens":5}}"#,
            ),
            (
                Provider::Anthropic,
                r#"{"content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn",
                    "usage":{"input_tokens":10,"output_tokens":5}}"#,
            ),
            (
                Provider::Gemini,
                r#"{"candidates":[{"content":{"parts":[{"text":"yes"}]},"finishReason":"STOP"}],
                    "usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5}}"#,
            ),
        ] {
            assert_eq!(answer(provider, body.as_bytes()).unwrap().text, "yes");
            for end in 0..body.len() {
                let read = answer(provider, &body.as_bytes()[..end]);
                assert!(matches!(read, Err(Unusable::BrokeOff)), "{}", &body[..end]);
            }
            // No byte at any place causes a panic.
            for place in 0..body.len() {
                for byte in [0, b'"', b'[', b'}', b'-', b'7', 0xff] {
                    let mut bytes = body.as_bytes().to_owned();
                    bytes[place] = byte;
                    drop(answer(provider, &bytes));
                    drop(error_body(&bytes));
                }
            }
        }
    }

    #[test]
    fn endpoint_escapes_the_name_of_the_model() {
        let base: BaseUrl = "http://host/v1beta".parse().unwrap();
        let url = endpoint(Provider::Gemini, &base, "models/gemini-2.5-flash");
        assert_eq!(
            url.path(),
            "/v1beta/models/gemini-2.5-flash:generateContent"
        );
        let url = endpoint(Provider::Gemini, &base, "../x?y");
        assert_eq!(url.path(), "/v1beta/models/..%2Fx%3Fy:generateContent");
    }
}
