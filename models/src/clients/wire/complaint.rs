//! What servers say with an error.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::lenient::{each, first, read};

/// What was said, as far as there was something. Not yet fit to be shown.
#[derive(Debug, Default)]
pub(in crate::clients) struct Complaint {
    /// A name such as `context_length_exceeded`, or a status.
    pub(in crate::clients) code: Option<String>,
    /// Another name, such as `invalid_request_error` or `INVALID_ARGUMENT`.
    pub(in crate::clients) kind: Option<String>,
    pub(in crate::clients) message: Option<String>,
    /// llama.cpp's field for the window it has.
    pub(in crate::clients) context_size: Option<u32>,
    /// Gemini's field for how long to wait.
    pub(in crate::clients) told: Option<Duration>,
}

impl Complaint {
    /// Whether it has this name.
    pub(in crate::clients) fn names(&self, name: &str) -> bool {
        self.code.as_deref() == Some(name) || self.kind.as_deref() == Some(name)
    }

    /// The status that it tells of itself.
    pub(in crate::clients) fn status(&self) -> Option<u16> {
        let status = self.code.as_deref()?.parse().ok()?;
        (400..600).contains(&status).then_some(status)
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    // vLLM's older form, and FastAPI's.
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

/// Reads the body of an error, whatever it is.
pub(in crate::clients) fn complaint(body: &[u8]) -> Complaint {
    let text = String::from_utf8_lossy(body);
    let whole: Option<&RawValue> = serde_json::from_str(&text).ok();
    // Gemini sometimes puts it in a list.
    let whole = first(whole).or(whole);
    let Some(envelope) = read::<Envelope<'_>>(whole) else {
        return unread(&text);
    };
    if envelope.error.is_some() {
        return of_error(envelope.error);
    }
    Complaint {
        kind: read(envelope.kind),
        message: read(envelope.message).or_else(|| read(envelope.detail)),
        ..Complaint::default()
    }
}

/// Reads what stands under `error`: an object, or a text.
pub(super) fn of_error(error: Option<&RawValue>) -> Complaint {
    let Some(inner) = read::<Inner<'_>>(error) else {
        return Complaint {
            message: read(error),
            ..Complaint::default()
        };
    };
    let mut told = None;
    each(inner.details, |detail| {
        let delay = read::<Detail<'_>>(Some(detail)).and_then(|detail| read(detail.retry_delay));
        told = told.or(delay.and_then(|delay: &str| seconds(delay)));
    });
    Complaint {
        code: read(inner.code).or_else(|| read::<u64>(inner.code).map(|code| code.to_string())),
        kind: read(inner.kind).or_else(|| read(inner.status)),
        message: read(inner.message),
        context_size: read(inner.n_ctx).filter(|size| *size > 0),
        told,
    }
}

/// A duration as Google writes them: `34.07s`.
fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// What is not JSON is a page of a proxy's, or a line of text.
fn unread(text: &str) -> Complaint {
    let text = text.trim();
    let message = if text.starts_with('<') {
        Some("with a page of HTML or XML".to_owned())
    } else if text.is_empty() {
        None
    } else {
        Some(text.to_owned())
    };
    Complaint {
        message,
        ..Complaint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_its_own_way_to_complain() {
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
            let complaint = complaint(body.as_bytes());
            assert_eq!(complaint.message.as_deref(), Some(message), "{body}");
            assert!(complaint.names(name), "{body}");
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
                complaint(body.as_bytes()).message.as_deref(),
                message,
                "{body}"
            );
        }
    }

    #[test]
    fn gemini_says_in_the_body_how_long_to_wait() {
        let body = r#"{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED","details":[
            {"@type":"type.googleapis.com/google.rpc.Help"},
            {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}"#;
        assert_eq!(
            complaint(body.as_bytes()).told,
            Some(Duration::from_millis(34_500))
        );
    }

    #[test]
    fn llama_cpp_says_in_a_field_what_fits() {
        let body = r#"{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_ctx":8192}}"#;
        assert_eq!(complaint(body.as_bytes()).context_size, Some(8_192));
    }
}
