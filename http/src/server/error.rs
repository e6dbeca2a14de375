//! What a client is told when a request cannot be served: what was wrong, and what to do. Never
//! a word of the conversation, and of the request itself only the names of its members that are
//! known here.

use std::error::Error as _;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use baler_host::{
    AnswerError, ArchiveError, ConfigError, Fault, HostError, IntrospectError, ReadError,
};
use serde_json::json;

use super::ServerLimits;

/// An answer that is none: a status, a code for programs, and words for people.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// What failed in the server, for who runs it. No client gets it.
    cause: Option<String>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status,
            code,
            message,
            cause: None,
        }
    }

    pub(crate) const fn code(&self) -> &'static str {
        self.code
    }

    pub(crate) fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    pub(crate) fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(crate) fn not_found() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not-found",
            "there is nothing here; GET /openapi.json tells what there is",
        )
    }

    pub(crate) fn method() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
            "this path takes another method; GET /openapi.json tells which",
        )
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "the bearer token is missing or wrong; send `Authorization: Bearer TOKEN`",
        )
    }

    pub(crate) fn too_large(limits: &ServerLimits) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            format!(
                "the body has more than {} bytes, which is this server's limit (`--max-body`)",
                limits.body_bytes
            ),
        )
    }

    pub(crate) fn too_deep(limits: &ServerLimits) -> Self {
        Self::bad_request(
            "too-deep",
            format!(
                "lists and objects of the body, or of a text that is its conversation, lie in each other more than {} levels deep, which is this server's limit",
                limits.nesting
            ),
        )
    }

    /// Work on a body of `bytes` with so many lists, objects and commas takes `needs` bytes, and
    /// there are `most`.
    pub(crate) fn too_much_work(
        bytes: usize,
        items: usize,
        needs: usize,
        most: usize,
        is_repaired: bool,
    ) -> Self {
        let repaired = if is_repaired {
            " and is to be repaired, which takes three times as much"
        } else {
            ""
        };
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-much-work",
            format!(
                "work on this body is reckoned to take {needs} bytes of memory, since it has {bytes} bytes and {items} lists, objects and commas{repaired}; this server's limit is {most} bytes (it grows with `--max-body`): send less at once"
            ),
        )
    }

    pub(crate) fn too_slow(limits: &ServerLimits) -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "too-slow",
            format!(
                "the body was not there after {} s; send it faster",
                limits.read_time.as_secs_f32()
            ),
        )
    }

    /// Less than `bytes` of the body came within `time`.
    pub(crate) fn stalled(bytes: usize, time: Duration) -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "too-slow",
            format!(
                "less than {bytes} bytes of the body came within {} s, and it was not whole; send it faster",
                time.as_secs_f32()
            ),
        )
    }

    pub(crate) fn overloaded() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded",
            "as many requests run and wait as this server takes; try again when `Retry-After` says",
        )
    }

    pub(crate) fn too_many_of_one() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded",
            "as many requests for the first strategy of this one's chain run and wait as this server takes; try again when `Retry-After` says, or name other strategies in `strategy`",
        )
    }

    pub(crate) fn timeout(time: Duration) -> Self {
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            "timeout",
            format!(
                "it was not done after {} s, which is this server's limit (`--timeout`); the conversation is as it was",
                time.as_secs_f32()
            ),
        )
    }

    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        let error = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "the server failed; the conversation is as it was",
        );
        Self {
            cause: Some(cause.into()),
            ..error
        }
    }

    pub(crate) fn no_room(cause: String) -> Self {
        let error = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "no-room",
            "this server has no descriptor or memory left to archive what leaves, so the conversation is as it was; try again when `Retry-After` says",
        );
        Self {
            cause: Some(cause),
            ..error
        }
    }

    /// The client was too slow: there is nothing more of it to wait for.
    pub(crate) fn is_too_slow(&self) -> bool {
        self.status == StatusCode::REQUEST_TIMEOUT
    }

    pub(crate) fn broken_off() -> Self {
        Self::bad_request("broken-off", "the body broke off")
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let told = json!({"error": {"code": self.code, "message": self.message}});
        let mut response = super::json_response(self.status, told.to_string());
        let headers = response.headers_mut();
        match self.status {
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        match self.status {
            // What is left of the body is not worth reading.
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT
            // Who has shown no token keeps no connection.
            | StatusCode::UNAUTHORIZED
            | StatusCode::MISDIRECTED_REQUEST
            | StatusCode::METHOD_NOT_ALLOWED => super::close(&mut response),
            _ => {}
        }
        response
    }
}

impl From<HostError> for ApiError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Overloaded { .. } => Self::overloaded(),
            HostError::NoSuchUnit { .. } => Self::bad_request("no-such-unit", error.to_string()),
            HostError::Archive(ArchiveError::NoRoom { .. }) => Self::no_room(error.to_string()),
            error => {
                let cause = with_causes(&error);
                tracing::error!(%cause, "the host failed");
                Self::internal(cause)
            }
        }
    }
}

/// An error of the host's, which holds no word of a conversation, with what led to it.
fn with_causes(error: &HostError) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        told.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    told
}

impl From<ReadError> for ApiError {
    /// Without what a reader quotes of the document.
    fn from(error: ReadError) -> Self {
        let what = match error {
            ReadError::OutOfTime => {
                return Self::new(
                    StatusCode::GATEWAY_TIMEOUT,
                    "timeout",
                    "`conversation` was not read within this server's time of a request (`--timeout`), and is as it was",
                );
            }
            ReadError::Empty => "it is empty".to_owned(),
            ReadError::NotJson { line, column, .. } => {
                format!("it is no JSON at its line {line}, column {column}")
            }
            ReadError::Message { number, .. } => {
                format!("its message {number} is none of that format")
            }
            ReadError::NoMessages { .. } => "it holds no messages".to_owned(),
            ReadError::Log(_) => "it is a session log that cannot be read".to_owned(),
            _ => "it has not the form of a request body or a list of messages".to_owned(),
        };
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "unreadable-conversation",
            format!(
                "`conversation` cannot be read: {what}; give a provider's request body as it would be sent, and `format` where it is not detected. `baler validate` tells more"
            ),
        )
    }
}

impl From<AnswerError> for ApiError {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Host(error) => error.into(),
            AnswerError::Conversation(error) => error.into(),
            AnswerError::Malformed { .. } => Self::bad_request("malformed", error.to_string()),
            AnswerError::Contract => Self::bad_request("contract", error.to_string()),
            error => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "not-answerable",
                error.to_string(),
            ),
        }
    }
}

impl From<ConfigError> for ApiError {
    fn from(error: ConfigError) -> Self {
        let message = match error {
            ConfigError::NotJson(_) => "`config` is no JSON".to_owned(),
            error => error.without_words(),
        };
        Self::bad_request("config", message)
    }
}

impl From<IntrospectError> for ApiError {
    fn from(error: IntrospectError) -> Self {
        match error {
            IntrospectError::Host(error) => error.into(),
            error @ IntrospectError::Fault(Fault::Timeout { .. }) => {
                Self::new(StatusCode::GATEWAY_TIMEOUT, "timeout", error.to_string())
            }
            error => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "cannot-say",
                error.without_words(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_meets_an_archive_without_descriptors_is_told_to_try_again() {
        let error = HostError::Archive(ArchiveError::NoRoom {
            action: "write to",
            place: "/srv/archive".to_owned(),
            what: "Too many open files".to_owned(),
        });
        let error = ApiError::from(error);
        let cause = error.cause().expect("who runs it is told");
        assert!(cause.contains("Too many open files"), "{cause}");
        let response = error.into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    }

    #[test]
    fn work_that_is_out_of_time_is_no_fault_of_the_request() {
        let slow = IntrospectError::Fault(Fault::Timeout { limit_ms: 2_000 });
        for error in [
            ApiError::from(ReadError::OutOfTime),
            ApiError::from(AnswerError::Conversation(ReadError::OutOfTime)),
            ApiError::from(slow),
        ] {
            assert_eq!(error.code(), "timeout");
            assert_eq!(error.into_response().status(), StatusCode::GATEWAY_TIMEOUT);
        }
        let unreadable = ApiError::from(ReadError::Empty).into_response();
        assert_eq!(unreadable.status(), StatusCode::UNPROCESSABLE_ENTITY);
    }

    #[test]
    fn no_refusal_holds_words_of_a_strategy() {
        let words = || "the other client's night train".to_owned();
        let introspect = || IntrospectError::Declared(words());
        let strategy = || "far".to_owned();
        for error in [
            ApiError::from(introspect()),
            ApiError::from(ConfigError::Declared {
                strategy: strategy(),
                words: words(),
            }),
            ApiError::from(ConfigError::NoIntrospection {
                strategy: strategy(),
                error: Box::new(introspect()),
            }),
        ] {
            assert!(!error.message.contains("night"), "{}", error.message);
            assert!(!error.message.is_empty());
        }
    }

    #[test]
    fn who_runs_the_server_is_told_the_cause_and_no_client_is() {
        let error = ApiError::from(HostError::Io {
            action: "open",
            path: "/srv/key".into(),
            source: std::io::Error::other("the disk is gone"),
        });
        assert_eq!(
            error.cause(),
            Some("cannot open `/srv/key`: the disk is gone")
        );
        assert!(!error.message.contains("disk"), "{}", error.message);
    }
}
