//! What came of an attempt that gave no answer, and in which words it is told.

use std::time::Duration;

use super::key::Key;
use super::too_long;
use super::wire::Complaint;
use crate::ModelError;

/// An attempt without an answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// It would fail again.
    Final(ModelError),
    /// It may pass.
    Passing {
        reason: String,
        /// Nobody was there at all.
        is_alone: bool,
        /// How long the provider asks to wait.
        told: Option<Duration>,
    },
}

impl Failure {
    pub(super) fn passing(reason: impl Into<String>) -> Self {
        Self::Passing {
            reason: reason.into(),
            is_alone: false,
            told: None,
        }
    }

    /// Nobody answers at that address.
    pub(super) fn alone(reason: impl Into<String>) -> Self {
        Self::Passing {
            reason: reason.into(),
            is_alone: true,
            told: None,
        }
    }

    /// An answer that makes no sense.
    pub(super) fn senseless(reason: impl Into<String>) -> Self {
        Self::Final(ModelError::Other(reason.into()))
    }
}

/// Whether asking again may help: conflicts, limits of rate, overload and what proxies say of it.
const fn may_pass(status: u16) -> bool {
    matches!(
        status,
        408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 | 520..=524 | 529
    )
}

/// What a status and what the provider says with it come to.
pub(super) fn judge(
    status: u16,
    complaint: &Complaint,
    told: Option<Duration>,
    words: Words<'_>,
) -> Failure {
    if let Some(fits) = too_long::recognise(status, complaint) {
        return Failure::Final(ModelError::TooLong { fits });
    }
    let said = complaint.message.as_deref().unwrap_or_default();
    let reason = match words.bounded(said) {
        said if said.is_empty() => format!("status {status}"),
        said => format!("status {status}, {said}"),
    };
    // What has been paid for is used up. That does not lift in minutes, whatever the status says.
    let is_unpaid = complaint.names("insufficient_quota");
    match status {
        _ if is_unpaid => Failure::Final(ModelError::Refused(reason)),
        _ if may_pass(status) => Failure::Passing {
            reason,
            is_alone: false,
            told: told.or(complaint.told),
        },
        300..400 => Failure::Final(ModelError::Refused(format!(
            "status {status}: the base URL leads elsewhere, and a key is not taken there; name the address itself"
        ))),
        404 | 405 => Failure::Final(ModelError::Refused(format!(
            "{reason} (is the model's name right, and does the base URL end with the version, as in /v1?)"
        ))),
        400..500 => Failure::Final(ModelError::Refused(reason)),
        500..600 => Failure::Final(ModelError::Unavailable(reason)),
        _ => Failure::senseless(reason),
    }
}

/// Makes what a server says fit to be shown: short, on one line, without the key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a>(pub(super) Option<&'a Key>);

impl Words<'_> {
    /// In characters.
    const MOST: usize = 200;

    pub(super) fn bounded(self, text: &str) -> String {
        // First the key, then the length: half a key is a secret too.
        let text = match self.0 {
            Some(key) => key.taken_out_of(text),
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
        let mut shown: String = text.chars().map(line).take(Self::MOST).collect();
        if text.chars().nth(Self::MOST).is_some() {
            shown.push('…');
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(message: &str) -> Complaint {
        Complaint {
            message: Some(message.to_owned()),
            ..Complaint::default()
        }
    }

    #[test]
    fn only_what_may_pass_is_asked_again() {
        let passes = |status| {
            let failure = judge(status, &complaint("no"), None, Words(None));
            matches!(failure, Failure::Passing { .. })
        };
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert!(passes(status), "{status}");
        }
        for status in [301, 307, 400, 401, 402, 403, 404, 413, 422, 501] {
            assert!(!passes(status), "{status}");
        }
    }

    #[test]
    fn a_used_up_account_is_no_limit_of_rate() {
        let complaint = Complaint {
            code: Some("insufficient_quota".to_owned()),
            ..complaint("You exceeded your current quota")
        };
        let failure = judge(429, &complaint, None, Words(None));
        assert!(
            matches!(failure, Failure::Final(ModelError::Refused(_))),
            "{failure:?}"
        );
    }

    #[test]
    fn words_are_short_and_on_one_line() {
        let shown = Words(None).bounded(&format!("a\nb{}", "é".repeat(1_000)));
        assert!(shown.starts_with("a bé"));
        assert_eq!(shown.chars().count(), 201);
        assert_eq!(Words(None).bounded(" \n"), "");
    }
}
