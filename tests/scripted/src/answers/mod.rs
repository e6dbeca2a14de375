//! Answers in the forms of providers.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use axum::http::StatusCode;
use baler_host::Format;
use serde_json::{Value, json};

use crate::check::Usage;
use crate::script::Call;

/// What a provider answers.
#[derive(Debug)]
pub(crate) enum Answer {
    Said(Said),
    TooLong {
        tokens: u32,
        window: u32,
    },
    /// Too many requests for now.
    Busy,
    Error(String),
}

/// What the model says: calls, or else a text.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) calls: Vec<Call>,
    pub(crate) text: String,
    /// What the model thinks, if the request wants to see that.
    pub(crate) thinking: Option<&'static str>,
    pub(crate) signature: String,
    pub(crate) usage: Usage,
    pub(crate) number: usize,
}

/// An answer as it is sent.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) status: StatusCode,
    pub(crate) is_events: bool,
    /// Its events, or the one body.
    pub(crate) pieces: Vec<String>,
}

const OUTPUT: u32 = 20;

/// Writes an answer.
pub(crate) fn write(format: Format, answer: &Answer, is_stream: bool) -> Written {
    let said = match answer {
        Answer::Said(said) => said,
        Answer::TooLong { tokens, window } => {
            let code = Some("context_length_exceeded");
            return error(format, code, &too_long(format, *tokens, *window));
        }
        Answer::Busy => return busy(format),
        Answer::Error(why) => return error(format, None, why),
    };
    let (whole, events) = match format {
        Format::Anthropic => anthropic::write(said),
        Format::OpenAiResponses => responses::write(said),
        Format::Gemini => gemini::write(said),
        _ => chat::write(said),
    };
    let mut pieces = vec![whole.to_string()];
    if is_stream {
        pieces = events.iter().map(event).collect();
        if format == Format::OpenAiChat {
            pieces.push("data: [DONE]\n\n".to_owned());
        }
    }
    Written {
        status: StatusCode::OK,
        is_events: is_stream,
        pieces,
    }
}

fn event(event: &Value) -> String {
    let name = event["type"].as_str();
    let name = name.map(|name| format!("event: {name}\n"));
    format!("{}data: {event}\n\n", name.unwrap_or_default())
}

/// Cuts a text into the pieces in which a model says it: enough of them that a reader who goes away is noticed by the rest.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let length = letters.len().div_ceil(8).max(1);
    letters.chunks(length).map(String::from_iter).collect()
}

fn too_long(format: Format, tokens: u32, window: u32) -> String {
    match format {
        Format::Anthropic => format!("prompt is too long: {tokens} tokens > {window} maximum"),
        Format::Gemini => format!("The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."),
        Format::OpenAiResponses => "Your input exceeds the context window of this model. Please adjust your input and try again.".to_owned(),
        _ => format!("This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens."),
    }
}

fn error(format: Format, code: Option<&str>, why: &str) -> Written {
    let body = match format {
        Format::Anthropic => {
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": why}})
        }
        Format::Gemini => {
            json!({"error": {"code": 400, "message": why, "status": "INVALID_ARGUMENT"}})
        }
        _ => {
            json!({"error": {"message": why, "type": "invalid_request_error", "param": null, "code": code}})
        }
    };
    of_status(StatusCode::BAD_REQUEST, &body)
}

fn busy(format: Format) -> Written {
    let why = "Too many requests. Try again later.";
    let body = match format {
        Format::Anthropic => {
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": why}})
        }
        Format::Gemini => {
            json!({"error": {"code": 429, "message": why, "status": "RESOURCE_EXHAUSTED"}})
        }
        _ => {
            json!({"error": {"message": why, "type": "requests", "param": null, "code": "rate_limit_exceeded"}})
        }
    };
    of_status(StatusCode::TOO_MANY_REQUESTS, &body)
}

/// Writes an answer that is not a stream.
pub(crate) fn of_status(status: StatusCode, body: &Value) -> Written {
    Written {
        status,
        is_events: false,
        pieces: vec![body.to_string()],
    }
}
