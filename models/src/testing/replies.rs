//! What the server says, and how.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Answer, Finish, Provider};

/// One reply. Whole and at once, unless something else is said.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) delay: Duration,
    pub(super) manner: Manner,
    /// The body is all there is, head included.
    is_raw: bool,
}

/// How a reply is written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Manner {
    Whole,
    /// Not at all.
    Silent,
    /// A byte of the body at a time.
    Trickled(Duration),
    /// Up to so many bytes of the body; then nothing, and the connection stays.
    HangingBehind(usize),
    /// Up to so many bytes of the body; then the connection is closed.
    ClosedBehind(usize),
    /// The body again and again.
    Endless,
}

impl Reply {
    /// An answer in the provider's spelling.
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

    /// A finished answer of this text, for 10 and 5 tokens.
    #[must_use]
    pub fn text(provider: Provider, text: &str) -> Self {
        Self::finished(provider, text, Finish::Stop)
    }

    /// An answer that was cut off behind this text.
    #[must_use]
    pub fn cut_off(provider: Provider, text: &str) -> Self {
        Self::finished(provider, text, Finish::Length)
    }

    /// The model declines.
    #[must_use]
    pub fn refusal(provider: Provider) -> Self {
        Self::finished(provider, "I cannot help with that.", Finish::Refusal)
    }

    fn finished(provider: Provider, text: &str, finish: Finish) -> Self {
        let answer = Answer {
            text: text.to_owned(),
            finish,
            input_tokens: 10,
            output_tokens: 5,
        };
        Self::answer(provider, &answer)
    }

    /// The model calls a tool that it was never given, and says something before.
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

    /// An error in the provider's spelling.
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

    /// The provider says that a question is too long, and what would fit.
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

    /// Any JSON.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::body(status, "application/json", body.to_string())
    }

    /// Any body.
    #[must_use]
    pub fn body(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.into(),
            delay: Duration::ZERO,
            manner: Manner::Whole,
            is_raw: false,
        }
    }

    /// These bytes and nothing else: they need not be HTTP. The connection is closed behind them.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            is_raw: true,
            ..Self::body(200, "", bytes)
        }
    }

    /// Nothing, and the connection stays.
    #[must_use]
    pub fn silence() -> Self {
        Self {
            manner: Manner::Silent,
            ..Self::raw("")
        }
    }

    /// A body that repeats `piece` for as long as somebody reads it.
    #[must_use]
    pub fn endless(piece: impl Into<Vec<u8>>) -> Self {
        Self {
            manner: Manner::Endless,
            ..Self::body(200, "application/json", piece)
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Nothing is written before this time.
    #[must_use]
    pub const fn after(mut self, time: Duration) -> Self {
        self.delay = time;
        self
    }

    /// The body comes a byte at a time, with a pause behind each.
    #[must_use]
    pub const fn trickled(mut self, pause: Duration) -> Self {
        self.manner = Manner::Trickled(pause);
        self
    }

    /// The body stops behind so many bytes, and the connection stays.
    #[must_use]
    pub const fn hanging_behind(mut self, bytes: usize) -> Self {
        self.manner = Manner::HangingBehind(bytes);
        self
    }

    /// The connection is closed behind so many bytes of the body.
    #[must_use]
    pub const fn closed_behind(mut self, bytes: usize) -> Self {
        self.manner = Manner::ClosedBehind(bytes);
        self
    }

    /// For requests that the script does not know of.
    pub(super) fn over() -> Self {
        Self::body(501, "text/plain", "the script is over")
    }

    /// All that stands before the body.
    pub(super) fn head(&self) -> String {
        if self.is_raw {
            return String::new();
        }
        let mut head = format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\n", self.status);
        if !matches!(self.manner, Manner::Endless) {
            let _ = write!(head, "content-length: {}\r\n", self.body.len());
        }
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head + "\r\n"
    }
}
