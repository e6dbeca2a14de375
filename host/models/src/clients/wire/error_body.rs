//! Bodies of error responses.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::lenient::{each, first, read};

/// The contents of an error body, as far as it could be read. Texts are not yet redacted.
#[derive(Debug, Default)]
pub(in crate::clients) struct ErrorBody {
    /// The error's name, such as `context_length_exceeded`, or its status.
    pub(in crate::clients) code: Option<String>,
    /// The error's type, such as `invalid_request_error` or `INVALID_ARGUMENT`.
    pub(in crate::clients) kind: Option<String>,
    /// The error in words.
    pub(in crate::clients) message: Option<String>,
    /// The context window in tokens, which llama.cpp reports.
    pub(in crate::clients) context_size: Option<u32>,
    /// How long to wait, which Gemini reports.
    pub(in crate::clients) retry_after: Option<Duration>,
}

impl ErrorBody {
    /// Whether this is the error's name or type.
    pub(in crate::clients) fn names(&self, name: &str) -> bool {
        self.code.as_deref() == Some(name) || self.kind.as_deref() == Some(name)
    }

    /// Returns the HTTP status in `code`, if it is one of an error.
    pub(in crate::clients) fn status(&self) -> Option<u16> {
        let status = self.code.as_deref()?.parse().ok()?;
        (400..600).contains(&status).then_some(status)
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    // Older versions of vLLM, and FastAPI.
    message: Option<&'a RawValue>,
    detail: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Inner<'a> {
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    n_ctx: Option<&'a RawValue>,
    details: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Detail<'a> {
    #[serde(borrow, rename = "retryDelay")]
    retry_delay: Option<&'a RawValue>,
}

/// Reads the body of an error response, which may be anything.
pub(in crate::clients) fn error_body(body: &[u8]) -> ErrorBody {
    let text = String::from_utf8_lossy(body);
    let whole: Option<&RawValue> = serde_json::from_str(&text).ok();
    // Gemini sometimes sends a list with one element.
    let whole = first(whole).or(whole);
    let Some(envelope) = read::<Envelope<'_>>(whole) else {
        return from_text(&text);
    };
    if envelope.error.is_some() {
        return error_member(envelope.error);
    }
    ErrorBody {
        kind: read(envelope.kind),
        message: read(envelope.message).or_else(|| read(envelope.detail)),
        ..ErrorBody::default()
    }
}

/// Reads the member `error`, which is an object or a text.
pub(super) fn error_member(error: Option<&RawValue>) -> ErrorBody {
    let Some(inner) = read::<Inner<'_>>(error) else {
        return ErrorBody {
            message: read(error),
            ..ErrorBody::default()
        };
    };
    let mut retry_after = None;
    each(inner.details, |detail| {
        let delay = read::<Detail<'_>>(Some(detail)).and_then(|detail| read(detail.retry_delay));
        retry_after = retry_after.or(delay.and_then(|delay: &str| seconds(delay)));
    });
    ErrorBody {
        code: read(inner.code).or_else(|| read::<u64>(inner.code).map(|code| code.to_string())),
        kind: read(inner.kind).or_else(|| read(inner.status)),
        message: read(inner.message),
        context_size: read(inner.n_ctx).filter(|size| *size > 0),
        retry_after,
    }
}

/// Reads a duration as Google writes it: `34.07s`.
fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Reads a body that is not JSON: a proxy's page, or plain text.
fn from_text(text: &str) -> ErrorBody {
    let text = text.trim();
    let message = if text.starts_with('<') {
        Some("with a page of HTML or XML".to_owned())
    } else if text.is_empty() {
        None
    } else {
        Some(text.to_owned())
    };
    ErrorBody {
        message,
        ..ErrorBody::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_body_reads_every_server() {
        for (body, message, name) in [
            (
                r#"{"error":{"message":"no","type":"invalid_request_error","param":null,"code":"c"}}"#,
                "no",
                "c",
            ),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"no"},"request_id":"r"}"#,
                "no",
                "overloaded_error",
            ),
            (
                r#"{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}"#,
                "no",
                "400",
            ),
            (
                r#"[{"error":{"code":400,"message":"no","status":"X"}}]"#,
                "no",
                "X",
            ),
            (
                r#"{"object":"error","message":"no","type":"BadRequestError"}"#,
                "no",
                "BadRequestError",
            ),
        ] {
            let read = error_body(body.as_bytes());
            assert_eq!(read.message.as_deref(), Some(message), "{body}");
            assert!(read.names(name), "{body}");
        }
        for (body, message) in [
            (r#"{"error":"model not found"}"#, Some("model not found")),
            (r#"{"detail":"Not Found"}"#, Some("Not Found")),
            (r#"{"detail":[{"input":"secret"}]}"#, None),
            ("404 page not found\n", Some("404 page not found")),
            ("<html>secret</html>", Some("with a page of HTML or XML")),
            ("", None),
            ("{}", None),
            (r#"{"error":null}"#, None),
        ] {
            assert_eq!(
                error_body(body.as_bytes()).message.as_deref(),
                message,
                "{body}"
            );
        }
    }

    #[test]
    fn error_body_reads_how_long_gemini_asks_to_wait() {
        let body = r#"{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED","details":[
            {"@type":"type.googleapis.com/google.rpc.Help"},
            {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}"#;
        assert_eq!(
            error_body(body.as_bytes()).retry_after,
            Some(Duration::from_millis(34_500))
        );
    }

    #[test]
    fn error_body_reads_the_context_size_of_llama_cpp() {
        let body = r#"{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_ctx":8192}}"#;
        assert_eq!(error_body(body.as_bytes()).context_size, Some(8_192));
    }
}
