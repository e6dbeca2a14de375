//! A compactor's state as JSON.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use baler_conversation::document::Known;
use baler_conversation::tokenizers::UnknownTokenizer;
use baler_conversation::{Format, ReadError, UnknownFormat};

use super::guard::Size;
use super::journal::Journal;
use super::pinned::Pinned;
use super::{Compactor, CompactorOptions, LastFutileAttempt, OptionError, Usage};
use crate::error::Cause;
use crate::host::Host;
use crate::strategy::Strategy;

/// Version of the format.
const VERSION: u32 = 1;

/// The saved state. It is generic so that it can be written from references: a journal holds every message
/// that was ever appended.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Saved<J, L, P> {
    compactor: u32,
    format: String,
    /// The request without its messages.
    frame: Box<RawValue>,
    journal: J,
    /// Facts about the view besides its messages. `reported` uses the same counts.
    known: Option<Known>,
    reported: Option<Usage>,
    failures: u32,
    #[serde(rename = "fruitless")]
    last_futile_attempt: Option<LastFutileAttempt>,
    /// The size that the newest compaction left.
    #[serde(default)]
    settled: Option<Size>,
    /// References of removed content.
    #[serde(default, rename = "left")]
    removed: L,
    /// Whether more content was archived than that.
    #[serde(default)]
    has_unlisted: bool,
    /// What is pinned.
    #[serde(default)]
    pinned: P,
    /// Indices of the view's messages that are summaries recorded by another program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recorded_summaries: Vec<usize>,
}

/// A state could not be written. This is an error of baler, because all of the state was read as JSON.
#[derive(Debug, thiserror::Error)]
#[error(
    "the state of this compactor cannot be written as JSON; keep the state that was saved before, and report this error of baler"
)]
pub struct SaveError {
    source: Cause,
}

impl SaveError {
    fn of(error: serde_json::Error) -> Self {
        Self {
            source: error.into(),
        }
    }
}

/// Why a saved state cannot be resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The text is not a complete saved state.
    #[error("expected the saved state of a compactor; pass the output of `save`, unchanged")]
    NotJson(#[source] Cause),
    /// The state names an unknown wire format.
    #[error("this state has a format that this version of baler does not know")]
    Format(#[source] UnknownFormat),
    /// The state names an unknown tokenizer.
    #[error("this state has a tokenizer that this version of baler does not know")]
    Tokenizer(#[source] UnknownTokenizer),
    /// Parts of the state contradict each other, as this text says.
    #[error("expected the saved state of a compactor: {0}; pass the output of `save`, unchanged")]
    Inconsistent(&'static str),
    /// Another version of baler wrote the state.
    #[error(
        "expected version {VERSION} of a saved state, found version {found}; use the version of baler that wrote it"
    )]
    Version {
        /// The version of the state.
        found: u32,
    },
    /// The conversation in the state cannot be read.
    #[error("the conversation of this state cannot be read")]
    Conversation(#[from] ReadError),
    /// An option is invalid.
    #[error(transparent)]
    Options(#[from] OptionError),
}

impl Compactor {
    /// Returns the state as JSON text: every message that was ever appended, the results of compactions, the
    /// pins, and how tokens are counted. It does not hold options, strategies, hooks and the context, which
    /// the program supplies, nor repairs ([`Conversation::repaired`](baler_conversation::Conversation::repaired)) that no receipt has reported yet.
    ///
    /// # Errors
    /// Returns an error if the state cannot be written as JSON, for which no cause is known.
    pub fn save(&self) -> Result<String, SaveError> {
        let frame = RawValue::from_string(self.view.frame().empty()).map_err(SaveError::of)?;
        let saved = Saved {
            compactor: VERSION,
            format: self.view.format().name().to_owned(),
            frame,
            journal: &self.journal,
            known: Some(self.view.known()),
            reported: self.reported,
            failures: self.failures,
            last_futile_attempt: self.last_futile_attempt,
            settled: self.settled,
            removed: &self.removed,
            has_unlisted: self.has_unlisted,
            pinned: &self.pinned,
            recorded_summaries: self.view.recorded_summaries(),
        };
        serde_json::to_string(&saved).map_err(SaveError::of)
    }

    /// Continues from the output of [`Compactor::save`]. Messages are byte-identical and counts are the same,
    /// whatever tokenizer this host has. White space between messages may differ, and an `input` that was a
    /// text becomes a list of one message. Only a host with the same key recognises summaries.
    ///
    /// # Errors
    /// Returns an error if `saved` is not such a state, or if an option is invalid.
    pub fn resume(
        host: Arc<Host>,
        saved: &str,
        chain: impl Into<Arc<[Strategy]>>,
        options: CompactorOptions,
    ) -> Result<Self, ResumeError> {
        let not_json = |error: serde_json::Error| ResumeError::NotJson(error.into());
        let found: Version = serde_json::from_str(saved).map_err(not_json)?;
        if found.compactor != VERSION {
            return Err(ResumeError::Version {
                found: found.compactor,
            });
        }
        let saved: Saved<Journal, Vec<String>, Pinned> =
            serde_json::from_str(saved).map_err(not_json)?;
        let format: Format = saved.format.parse().map_err(ResumeError::Format)?;
        let mut journal = saved.journal;
        if !journal.restore() {
            let what = "a compaction names messages that did not come before it";
            return Err(ResumeError::Inconsistent(what));
        }
        let frame = host.read_as(saved.frame.get(), format)?;
        let messages = journal.view_before(usize::MAX);
        let document = frame.frame().write(messages.iter().copied());
        let view = host
            .read_as(&document, format)?
            .with_recorded_summaries(&saved.recorded_summaries);
        let view = match &saved.known {
            Some(known) => view.with_known(known).map_err(ResumeError::Tokenizer)?,
            None => view,
        };
        if !saved.pinned.is_in(&view) {
            let what = "it pins messages that are not in its conversation";
            return Err(ResumeError::Inconsistent(what));
        }
        let mut compactor = Self::new(host, view, chain, options)?;
        compactor.journal = journal;
        compactor.reported = saved.reported;
        compactor.failures = saved.failures;
        compactor.last_futile_attempt = saved.last_futile_attempt;
        compactor.settled = saved.settled;
        compactor.removed = saved.removed;
        compactor.has_unlisted = saved.has_unlisted;
        compactor.pinned = saved.pinned;
        Ok(compactor)
    }
}

#[derive(Deserialize)]
struct Version {
    compactor: u32,
}
