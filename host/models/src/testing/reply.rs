//! Scripted replies.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Answer, Finish, Provider};

/// One reply of a [`ScriptedServer`](super::ScriptedServer). By default it is sent whole and at once.
///
/// ```
/// use std::time::Duration;
///
/// use baler_models::Provider;
/// use baler_models::testing::Reply;
///
/// let slow = Reply::text(Provider::Gemini, "A summary.").delayed(Duration::from_secs(1));
/// let broken = Reply::text(Provider::Gemini, "A summary.").closed_after(20);
/// ```
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) delay: Duration,
    pub(super) delivery: Delivery,
    /// Whether the body contains the head.
    is_raw: bool,
}

/// How a reply is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Delivery {
    Whole,
    /// Never.
    Silent,
    /// A byte of the body at a time, with a pause after each.
    Trickled(Duration),
    /// So many bytes of the body. Then the connection stays open without data.
    StallingAfter(usize),
    /// So many bytes of the body. Then the connection is closed.
    ClosedAfter(usize),
    /// The body again and again.
    Endless,
}

impl Reply {
    /// An answer in the provider's format.
    #[must_use]
    pub fn answer(provider: Provider, answer: &Answer) -> Self {
        let (input, output) = (answer.input_tokens, answer.output_tokens);
        let is_refused = answer.finish == Finish::Refusal;
        let body = match provider {
            Provider::OpenAi | Provider::Compatible => json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": if is_refused { Value::Null } else { json!(answer.text) },
                        "refusal": if is_refused { json!(answer.text) } else { Value::Null },
                    },
                    "finish_reason": match answer.finish {
                        Finish::Stop => "stop",
                        Finish::Length => "length",
                        Finish::Refusal => "content_filter",
                    },
                }],
                "usage": {"prompt_tokens": input, "completion_tokens": output, "total_tokens": 0},
            }),
            Provider::Anthropic => json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                "content": if answer.text.is_empty() { json!([]) } else { json!([{"type": "text", "text": answer.text}]) },
                "stop_reason": match answer.finish {
                    Finish::Stop => "end_turn",
                    Finish::Length => "max_tokens",
                    Finish::Refusal => "refusal",
                },
                "stop_sequence": null,
                "usage": {"input_tokens": input, "output_tokens": output},
            }),
            Provider::Gemini => json!({
                "candidates": [{
                    "index": 0,
                    "content": {"role": "model", "parts": [{"text": answer.text}]},
                    "finishReason": match answer.finish {
                        Finish::Stop => "STOP",
                        Finish::Length => "MAX_TOKENS",
                        Finish::Refusal => "SAFETY",
                    },
                }],
                "usageMetadata": {"promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": 0},
                "modelVersion": "m",
            }),
        };
        Self::json(200, &body)
    }

    /// A finished answer with this text, 10 input tokens and 5 output tokens.
    #[must_use]
    pub fn text(provider: Provider, text: &str) -> Self {
        Self::finished(provider, text, Finish::Stop)
    }

    /// An answer that was cut off after this text.
    #[must_use]
    pub fn cut_off(provider: Provider, text: &str) -> Self {
        Self::finished(provider, text, Finish::Length)
    }

    /// An answer in which the model declines.
    #[must_use]
    pub fn refusal(provider: Provider) -> Self {
        Self::finished(provider, "I cannot help with that.", Finish::Refusal)
    }

    fn finished(provider: Provider, text: &str, finish: Finish) -> Self {
        let answer = Answer::new(text, finish).with_usage(10, 5);
        Self::answer(provider, &answer)
    }

    /// An answer with some text, and a call of a tool that the model was not given.
    #[must_use]
    pub fn tool_call(provider: Provider) -> Self {
        let body = match provider {
            Provider::OpenAi | Provider::Compatible => json!({
                "choices": [{
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "Let me look.",
                        "tool_calls": [{
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "look", "arguments": "{}"},
                        }],
                    },
                    "finish_reason": "tool_calls",
                }],
            }),
            Provider::Anthropic => json!({
                "type": "message", "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
                ],
                "stop_reason": "tool_use",
            }),
            Provider::Gemini => json!({
                "candidates": [{
                    "content": {"role": "model", "parts": [
                        {"text": "Let me look."},
                        {"functionCall": {"name": "look", "args": {}}},
                    ]},
                    "finishReason": "STOP",
                }],
            }),
        };
        Self::json(200, &body)
    }

    /// An error in the provider's format.
    #[must_use]
    pub fn error(provider: Provider, status: u16, message: &str) -> Self {
        let body = match provider {
            Provider::OpenAi | Provider::Compatible => json!({
                "error": {"message": message, "type": "error", "param": null, "code": null},
            }),
            Provider::Anthropic => json!({
                "type": "error",
                "error": {"type": "error", "message": message},
                "request_id": "req_1",
            }),
            Provider::Gemini => json!({
                "error": {"code": status, "message": message, "status": "ERROR"},
            }),
        };
        Self::json(status, &body)
    }

    /// An error that says that the question is too long and that `fits` tokens would fit.
    #[must_use]
    pub fn too_long(provider: Provider, fits: u32) -> Self {
        let message = match provider {
            Provider::OpenAi | Provider::Compatible => format!(
                "This model's maximum context length is {fits} tokens. However, your messages resulted in 4000000 tokens."
            ),
            Provider::Anthropic => format!("prompt is too long: 4000000 tokens > {fits} maximum"),
            Provider::Gemini => format!(
                "The input token count (4000000) exceeds the maximum number of tokens allowed ({fits})."
            ),
        };
        Self::error(provider, 400, &message)
    }

    /// A reply with any JSON.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::body(status, "application/json", body.to_string())
    }

    /// A reply with any body.
    #[must_use]
    pub fn body(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.into(),
            delay: Duration::ZERO,
            delivery: Delivery::Whole,
            is_raw: false,
        }
    }

    /// Only these bytes, which need not be HTTP. Then the connection is closed.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            is_raw: true,
            ..Self::body(200, "", bytes)
        }
    }

    /// No reply. The connection stays open.
    #[must_use]
    pub fn silence() -> Self {
        Self {
            delivery: Delivery::Silent,
            ..Self::raw("")
        }
    }

    /// A body that repeats `chunk` as long as the client reads it.
    #[must_use]
    pub fn endless(chunk: impl Into<Vec<u8>>) -> Self {
        Self {
            delivery: Delivery::Endless,
            ..Self::body(200, "application/json", chunk)
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the reply after this time.
    #[must_use]
    pub const fn delayed(mut self, time: Duration) -> Self {
        self.delay = time;
        self
    }

    /// Sends the body one byte at a time, with a pause after each.
    #[must_use]
    pub const fn trickled(mut self, pause: Duration) -> Self {
        self.delivery = Delivery::Trickled(pause);
        self
    }

    /// Stops after so many bytes of the body, and keeps the connection open.
    #[must_use]
    pub const fn stalling_after(mut self, bytes: usize) -> Self {
        self.delivery = Delivery::StallingAfter(bytes);
        self
    }

    /// Closes the connection after so many bytes of the body.
    #[must_use]
    pub const fn closed_after(mut self, bytes: usize) -> Self {
        self.delivery = Delivery::ClosedAfter(bytes);
        self
    }

    /// The reply to requests after the end of the script, if there is no default reply.
    pub(super) fn end_of_script() -> Self {
        Self::body(501, "text/plain", "the script has ended")
    }

    /// Writes the status line and the headers.
    pub(super) fn head(&self) -> String {
        if self.is_raw {
            return String::new();
        }
        let mut head = format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\n", self.status);
        if !matches!(self.delivery, Delivery::Endless) {
            let _ = write!(head, "content-length: {}\r\n", self.body.len());
        }
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head + "\r\n"
    }
}
