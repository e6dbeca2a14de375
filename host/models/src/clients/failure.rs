//! Failed attempts: which may succeed later, and how errors quote the server.

use std::time::Duration;

use super::key::Key;
use super::too_long;
use super::wire::ErrorBody;
use crate::ModelError;

/// An attempt without an answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another attempt would fail in the same way.
    Final(ModelError),
    /// Another attempt may succeed.
    Transient {
        reason: String,
        /// Whether no connection was made at all.
        is_unreachable: bool,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
    },
}

impl Failure {
    pub(super) fn transient(reason: impl Into<String>) -> Self {
        Self::Transient {
            reason: reason.into(),
            is_unreachable: false,
            retry_after: None,
        }
    }

    /// No connection was made.
    pub(super) fn unreachable(reason: impl Into<String>) -> Self {
        Self::Transient {
            reason: reason.into(),
            is_unreachable: true,
            retry_after: None,
        }
    }

    /// The server answered with something that is not an answer.
    pub(super) fn invalid(reason: impl Into<String>) -> Self {
        Self::Final(ModelError::InvalidAnswer(reason.into()))
    }
}

/// Whether another attempt may succeed: conflicts, rate limits, overload, and how proxies report them.
const fn is_transient(status: u16) -> bool {
    matches!(
        status,
        408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 | 520..=524 | 529
    )
}

/// Classifies an error response by its status and body.
pub(super) fn classify(
    status: u16,
    body: &ErrorBody,
    retry_after: Option<Duration>,
    redactor: Redactor<'_>,
) -> Failure {
    if let Some(fits) = too_long::recognise(status, body) {
        return Failure::Final(ModelError::TooLong { fits });
    }
    let message = body.message.as_deref().unwrap_or_default();
    let reason = match redactor.bounded(message) {
        message if message.is_empty() => format!("status {status}"),
        message => format!("status {status}, {message}"),
    };
    // The account is used up, which does not change in minutes, although the status says that it may.
    let is_unpaid = body.names("insufficient_quota");
    match status {
        _ if is_unpaid => Failure::Final(ModelError::Refused(reason)),
        _ if is_transient(status) => Failure::Transient {
            reason,
            is_unreachable: false,
            retry_after: retry_after.or(body.retry_after),
        },
        300..400 => Failure::Final(ModelError::Refused(format!(
            "status {status}: the base URL leads elsewhere, and redirects are not followed; set the base URL to the new address"
        ))),
        404 | 405 => Failure::Final(ModelError::Refused(format!(
            "{reason} (is the model's name right, and does the base URL end with the version, as in /v1?)"
        ))),
        400..500 => Failure::Final(ModelError::Refused(reason)),
        500..600 => Failure::Final(ModelError::Unavailable(reason)),
        _ => Failure::invalid(reason),
    }
}

/// Prepares a server's text for an error message: short, on one line, without the key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Redactor<'a>(pub(super) Option<&'a Key>);

impl Redactor<'_> {
    const MAX_CHARS: usize = 200;

    pub(super) fn bounded(self, text: &str) -> String {
        // Remove the key before shortening: half a key is a secret, too.
        let text = match self.0 {
            Some(key) => key.redact(text),
            None => text.to_owned(),
        };
        let line = |c: char| {
            if c.is_control() || c == '\u{2028}' {
                ' '
            } else {
                c
            }
        };
        let text = text.trim();
        let mut shown: String = text.chars().map(line).take(Self::MAX_CHARS).collect();
        if text.chars().nth(Self::MAX_CHARS).is_some() {
            shown.push('…');
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(message: &str) -> ErrorBody {
        ErrorBody {
            message: Some(message.to_owned()),
            ..ErrorBody::default()
        }
    }

    #[test]
    fn only_transient_statuses_are_retried() {
        let is_retried = |status| {
            let failure = classify(status, &body("no"), None, Redactor(None));
            matches!(failure, Failure::Transient { .. })
        };
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert!(is_retried(status), "{status}");
        }
        for status in [301, 307, 400, 401, 402, 403, 404, 413, 422, 501] {
            assert!(!is_retried(status), "{status}");
        }
    }

    #[test]
    fn insufficient_quota_is_not_a_rate_limit() {
        let body = ErrorBody {
            code: Some("insufficient_quota".to_owned()),
            ..body("You exceeded your current quota")
        };
        let failure = classify(429, &body, None, Redactor(None));
        assert!(
            matches!(failure, Failure::Final(ModelError::Refused(_))),
            "{failure:?}"
        );
    }

    #[test]
    fn redactor_shortens_text_to_one_line() {
        let shown = Redactor(None).bounded(&format!("a\nb{}", "é".repeat(1_000)));
        assert!(shown.starts_with("a bé"));
        assert_eq!(shown.chars().count(), 201);
        assert_eq!(Redactor(None).bounded(" \n"), "");
    }
}
