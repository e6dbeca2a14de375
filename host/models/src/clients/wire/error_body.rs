//! Bodies of error responses.

use std::time::Duration;

use super::lenient::Lenient;

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

/// Reads the body of an error response, which may be anything.
pub(in crate::clients) fn error_body(body: &[u8]) -> ErrorBody {
    let text = String::from_utf8_lossy(body);
    // Gemini sometimes sends a list with one element.
    let whole = Lenient::parse(text.as_bytes()).ok();
    let Some(envelope) = whole.and_then(|whole| whole.first().object().or(whole.object())) else {
        return from_text(&text);
    };
    let error = envelope.get("error");
    if error.is_there() {
        return error_member(error);
    }
    // Older versions of vLLM, and FastAPI.
    ErrorBody {
        kind: envelope.get("type").text(),
        message: envelope
            .get("message")
            .text()
            .or_else(|| envelope.get("detail").text()),
        ..ErrorBody::default()
    }
}

/// Reads the member `error`, which is an object or a text.
pub(super) fn error_member(error: Lenient<'_>) -> ErrorBody {
    let code = error.get("code");
    let mut retry_after = None;
    error.get("details").each(|detail| {
        let delay = detail.get("retryDelay").text();
        retry_after = retry_after.or(delay.and_then(|delay| seconds(&delay)));
    });
    ErrorBody {
        code: code
            .text()
            .or_else(|| code.count().map(|code| code.to_string())),
        kind: error
            .get("type")
            .text()
            .or_else(|| error.get("status").text()),
        message: error.get("message").text().or_else(|| error.text()),
        context_size: error.get("n_ctx").read().filter(|size| *size > 0),
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
