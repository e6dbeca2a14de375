//! The error responses. Each says what was wrong and what to do. None holds text of the conversation, and
//! of the request itself only names of known members.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use baler_host::{
    HostError,
    archive::ArchiveError,
    conversation::ReadError,
    fault::Fault,
    remote::AnswerError,
    strategy::{ConfigError, IntrospectError},
};
use serde_json::json;

use crate::limits::ServerLimits;

/// An error response: a status, a code for programs, and a message for people.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// What failed in the server, for its operator. No client gets it.
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

    /// Returns the code for programs.
    pub(crate) const fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the cause for the operator; `None` if the server did not fail.
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
            "this path does not exist; see GET /openapi.json",
        )
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
            "this path does not support this method; see GET /openapi.json",
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
                "the body has more than {} bytes, this server's limit (`--max-body`)",
                limits.body_bytes
            ),
        )
    }

    pub(crate) fn too_deep(limits: &ServerLimits) -> Self {
        Self::bad_request(
            "too-deep",
            format!(
                "lists and objects of the body, or of a conversation that is a text, are nested more than {} levels deep, this server's limit",
                limits.nesting
            ),
        )
    }

    /// Work on a body of `bytes` bytes with `items` lists, objects and commas needs `estimate` bytes of
    /// memory, and the limit is `most`.
    pub(crate) fn too_much_work(
        bytes: usize,
        items: usize,
        estimate: usize,
        most: usize,
        is_repaired: bool,
    ) -> Self {
        let repaired = if is_repaired {
            " and is to be repaired, which needs three times as much"
        } else {
            ""
        };
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-much-work",
            format!(
                "work on this body is estimated to need {estimate} bytes of memory, since it has {bytes} bytes and {items} lists, objects and commas{repaired}; this server's limit is {most} bytes (it grows with `--max-body`): send a smaller conversation"
            ),
        )
    }

    pub(crate) fn too_slow(limits: &ServerLimits) -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "too-slow",
            format!(
                "the body did not arrive within {} s; send it faster",
                limits.read_time.as_secs_f32()
            ),
        )
    }

    /// Less than `bytes` bytes of the body arrived within `time`.
    pub(crate) fn stalled(bytes: usize, time: Duration) -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "too-slow",
            format!(
                "fewer than {bytes} bytes of the body arrived within {} s, and it was not complete; send it faster",
                time.as_secs_f32()
            ),
        )
    }

    pub(crate) fn overloaded() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded",
            "this server is at its limit of running and waiting requests, or of memory for them; try again after the time in `Retry-After`",
        )
    }

    pub(crate) fn strategy_overloaded() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded",
            "the first strategy of the chain is at its limit of running and waiting requests; try again after the time in `Retry-After`, or name other strategies in `strategy`",
        )
    }

    pub(crate) fn timeout(time: Duration) -> Self {
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            "timeout",
            format!(
                "the request took longer than {} s, this server's limit (`--timeout`); the conversation is unchanged",
                time.as_secs_f32()
            ),
        )
    }

    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        let error = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "the server failed; the conversation is unchanged",
        );
        Self {
            cause: Some(cause.into()),
            ..error
        }
    }

    pub(crate) fn archive_exhausted(cause: String) -> Self {
        let error = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "no-room",
            "this server has no descriptor or memory left to archive removed content, so the conversation is unchanged; try again after the time in `Retry-After`",
        );
        Self {
            cause: Some(cause),
            ..error
        }
    }

    /// Whether the client was too slow, so that the rest of its body is not awaited.
    pub(crate) fn is_too_slow(&self) -> bool {
        self.status == StatusCode::REQUEST_TIMEOUT
    }

    pub(crate) fn body_aborted() -> Self {
        Self::bad_request(
            "broken-off",
            "the connection ended before the body was complete",
        )
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let body = json!({"error": {"code": self.code, "message": self.message}});
        let mut response = super::json_response(self.status, body.to_string());
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
            // The rest of the body is not read.
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT
            // A client that shows no token keeps no connection.
            | StatusCode::UNAUTHORIZED
            | StatusCode::MISDIRECTED_REQUEST
            | StatusCode::METHOD_NOT_ALLOWED => super::close(&mut response),
            // Its `Host` header is wrong, which is checked before the token.
            StatusCode::BAD_REQUEST if self.code == "host" => super::close(&mut response),
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
            HostError::Archive(ArchiveError::NoRoom { .. }) => {
                Self::archive_exhausted(error.to_string())
            }
            error => {
                let cause = baler_host::with_causes(&error);
                tracing::error!(%cause, "the host failed");
                Self::internal(cause)
            }
        }
    }
}

impl From<ReadError> for ApiError {
    /// Leaves out what the error quotes of the document.
    fn from(error: ReadError) -> Self {
        let what = match error {
            ReadError::OutOfTime => {
                return Self::new(
                    StatusCode::GATEWAY_TIMEOUT,
                    "timeout",
                    "`conversation` could not be read within this server's time limit of a request (`--timeout`); it is unchanged",
                );
            }
            ReadError::Empty => "the text is empty".to_owned(),
            ReadError::NotJson { line, column, .. } => {
                format!("invalid JSON at line {line}, column {column} of it")
            }
            ReadError::Message { number, .. } => {
                format!("message {number} does not have the form that the format requires")
            }
            ReadError::NoMessages { .. } => "it has no messages".to_owned(),
            ReadError::Log(_) => "it is a damaged or unsupported session log".to_owned(),
            _ => "it is neither a request body nor a list of messages".to_owned(),
        };
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "unreadable-conversation",
            format!(
                "cannot read `conversation`: {what}; give a provider's request body as it would be sent, and `format` if it is not detected. `baler validate` shows details"
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
            ConfigError::NotJson(_) => "`config` is not valid JSON".to_owned(),
            error => error.without_free_text(),
        };
        Self::bad_request("config", message)
    }
}

impl From<IntrospectError> for ApiError {
    fn from(error: IntrospectError) -> Self {
        match error {
            IntrospectError::Host(error) => error.into(),
            error @ IntrospectError::Fault(Fault::Timeout { .. }) => Self::new(
                StatusCode::GATEWAY_TIMEOUT,
                "timeout",
                baler_host::with_causes(&error),
            ),
            error => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "cannot-say",
                error.without_free_text(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use baler_host::FileError;

    use super::*;

    #[test]
    fn exhausted_archive_asks_the_client_to_retry() {
        let error = HostError::Archive(ArchiveError::NoRoom {
            action: "write to",
            place: "/srv/archive".to_owned(),
            what: "Too many open files".to_owned(),
        });
        let error = ApiError::from(error);
        let cause = error.cause().expect("a cause for the operator");
        assert!(cause.contains("Too many open files"), "{cause}");
        let response = error.into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    }

    #[test]
    fn timeouts_get_504_and_unreadable_conversations_422() {
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
    fn error_messages_hold_no_text_of_a_strategy() {
        let words = || "the other client's night train".to_owned();
        let introspect = || IntrospectError::Declared { free_text: words() };
        let strategy = || "far".to_owned();
        for error in [
            ApiError::from(introspect()),
            ApiError::from(ConfigError::Declared {
                strategy: strategy(),
                free_text: words(),
            }),
            ApiError::from(ConfigError::NoIntrospection {
                strategy: strategy(),
                source: Box::new(introspect()),
            }),
        ] {
            assert!(!error.message.contains("night"), "{}", error.message);
            assert!(!error.message.is_empty());
        }
    }

    #[test]
    fn cause_of_an_internal_error_is_for_the_operator_only() {
        let error = ApiError::from(HostError::from(FileError::Io {
            action: "open",
            path: "/srv/key".into(),
            source: std::io::Error::other("the disk is gone"),
        }));
        assert_eq!(
            error.cause(),
            Some("cannot open `/srv/key`: the disk is gone")
        );
        assert!(!error.message.contains("disk"), "{}", error.message);
    }
}
