//! The protocols: how each spells questions, answers and complaints.
//!
//! What is read here comes from strangers. Nothing is kept of a body but what is looked for, so a body
//! of millions of small values costs no more memory than its bytes.

mod anthropic;
mod complaint;
mod gemini;
mod lenient;
mod openai;

use reqwest::Url;
use serde_json::{Map, Value};

pub(super) use self::complaint::{Complaint, complaint};
use super::base_url::BaseUrl;
use crate::{Answer, Finish, Provider, Question};

/// What a model said, as it was reported.
#[derive(Debug)]
pub(super) struct Said {
    text: String,
    finish: Finish,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

/// Why a body with status 200 is no answer.
#[derive(Debug)]
pub(super) enum Unread {
    /// It ends in the middle.
    BrokeOff,
    /// It is an error in the clothes of an answer.
    Complaint(Complaint),
    /// It is something else. The text may hold words of the server's.
    Senseless(String),
}

/// Where a model answers.
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

/// The body of a question, whose answer has at most `most` tokens, with further fields.
pub(super) fn question(
    provider: Provider,
    model: &str,
    question: &Question,
    most: u32,
    fields: &Map<String, Value>,
) -> Vec<u8> {
    let mut body = match provider {
        Provider::OpenAi => openai::question(model, question, "max_completion_tokens", most),
        // The name that all of them know.
        Provider::Compatible => openai::question(model, question, "max_tokens", most),
        Provider::Anthropic => anthropic::question(model, question, most),
        Provider::Gemini => gemini::question(question, most),
    };
    add(&mut body, fields);
    body.to_string().into_bytes()
}

/// Adds fields, in objects within objects too.
fn add(body: &mut Value, fields: &Map<String, Value>) {
    for (name, value) in fields {
        match (&mut body[name], value) {
            (inner @ Value::Object(_), Value::Object(fields)) => add(inner, fields),
            (place, value) => *place = value.clone(),
        }
    }
}

/// Reads an answer.
pub(super) fn answer(provider: Provider, body: &[u8]) -> Result<Said, Unread> {
    let mut said = match provider {
        Provider::OpenAi | Provider::Compatible => openai::answer(body),
        Provider::Anthropic => anthropic::answer(body),
        Provider::Gemini => gemini::answer(body),
    }?;
    if provider == Provider::Compatible {
        let cut = said.finish == Finish::Length;
        said.text = without_thinking(said.text, cut);
    }
    Ok(said)
}

/// Local servers without a parser for thinking leave it at the start of the text.
fn without_thinking(text: String, is_cut_off: bool) -> String {
    let Some(thinking) = text.trim_start().strip_prefix("<think>") else {
        return match behind_thinking(&text) {
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
fn behind_thinking(text: &str) -> Option<&str> {
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

impl Said {
    /// The answer; what the provider did not count is estimated.
    pub(super) fn into_answer(self, question: &Question) -> Answer {
        let asked = question.instructions.len() + question.prompt.len();
        let estimate = |bytes: usize| bytes.div_ceil(4) as u64;
        let counted = |tokens: Option<u64>, bytes: usize| {
            let tokens = tokens
                .filter(|tokens| *tokens > 0 || bytes == 0)
                .unwrap_or_else(|| estimate(bytes));
            u32::try_from(tokens).unwrap_or(u32::MAX)
        };
        Answer {
            input_tokens: counted(self.input_tokens, asked),
            output_tokens: counted(self.output_tokens, self.text.len()),
            text: self.text,
            finish: self.finish,
        }
    }
}

impl Unread {
    /// From what is wrong with the JSON.
    fn json(error: &serde_json::Error, body: &[u8]) -> Self {
        if error.is_eof() {
            return Self::BrokeOff;
        }
        let start = body.trim_ascii_start();
        Self::Senseless(if start.starts_with(b"<") {
            "the answer is a page of HTML or XML, not JSON; is the base URL right?".to_owned()
        } else if error.is_data() {
            "the answer has a shape that makes no sense".to_owned()
        } else {
            "the answer is not JSON".to_owned()
        })
    }

    fn shape(what: &str) -> Self {
        Self::Senseless(format!("the answer has {what}"))
    }

    /// An answer that ended for a reason nobody knows is not finished.
    fn reason(reason: &str) -> Self {
        Self::Senseless(format!("the answer ended for the reason `{reason}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, tokens: Option<u64>) -> Said {
        Said {
            text: text.to_owned(),
            finish: Finish::Stop,
            input_tokens: tokens,
            output_tokens: tokens,
        }
    }

    #[test]
    fn what_is_not_counted_is_estimated() {
        let question = Question {
            instructions: "1234".to_owned(),
            prompt: "12345".to_owned(),
            max_output_tokens: 1,
        };
        for (tokens, input, output) in [
            (None, 3, 2),
            (Some(0), 3, 2),
            (Some(9), 9, 9),
            (Some(u64::MAX), u32::MAX, u32::MAX),
        ] {
            let answer = said("12345678", tokens).into_answer(&question);
            assert_eq!((answer.input_tokens, answer.output_tokens), (input, output));
        }
        assert_eq!(said("", Some(0)).into_answer(&question).output_tokens, 0);
    }

    #[test]
    fn thinking_is_no_part_of_the_text() {
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
    fn a_broken_answer_is_none() {
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
                let said = answer(provider, &body.as_bytes()[..end]);
                assert!(matches!(said, Err(Unread::BrokeOff)), "{}", &body[..end]);
            }
            // Whatever stands anywhere: no panic.
            for place in 0..body.len() {
                for byte in [0, b'"', b'[', b'}', b'-', b'7', 0xff] {
                    let mut bytes = body.as_bytes().to_owned();
                    bytes[place] = byte;
                    drop(answer(provider, &bytes));
                    drop(complaint(&bytes));
                }
            }
        }
    }

    #[test]
    fn a_models_name_stays_within_its_place_in_the_path() {
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
