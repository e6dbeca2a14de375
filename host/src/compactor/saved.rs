//! A compactor's state as JSON.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use baler_conversation::document::Known;
use baler_conversation::{Conversation, Format, ReadError};

use super::guard::Size;
use super::journal::Journal;
use super::pinned::Pinned;
use super::{Compactor, CompactorOptions, LastFutileAttempt, OptionError, Usage};
use crate::host::Host;
use crate::strategy::Strategy;

/// Version of the form.
const VERSION: u32 = 1;

/// Written of what is only lent, since a journal is as large as all that ever came.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Saved<J, L, P> {
    compactor: u32,
    format: String,
    /// The request without its messages.
    frame: Box<RawValue>,
    journal: J,
    /// What is known of the view beside its messages; in the same units is what was reported.
    known: Option<Known>,
    reported: Option<Usage>,
    failures: u32,
    fruitless: Option<LastFutileAttempt>,
    /// What the newest compaction left.
    #[serde(default)]
    settled: Option<Size>,
    /// References of what left.
    #[serde(default)]
    left: L,
    /// Whether more left than that.
    #[serde(default)]
    has_unlisted: bool,
    /// What is pinned.
    #[serde(default)]
    pinned: P,
    /// Which messages of the view are summaries that another program recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recorded_summaries: Vec<usize>,
}

/// A state could not be written. All of it was read as JSON, so this is a fault of baler's; it is no
/// empty state, since a program would keep that in the place of the last good one.
#[derive(Debug, thiserror::Error)]
#[error(
    "the state of this compactor cannot be written as JSON: {0}; keep the state that was saved before, and report it, since all of it was read as JSON"
)]
pub struct SaveError(String);

impl SaveError {
    fn of(error: &serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// Why a saved state cannot be gone on from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// It is no state, or not a whole one.
    #[error("this is no saved state of a compactor: {0}; give what `save` wrote, unchanged")]
    Malformed(String),
    /// Another version of baler wrote it.
    #[error("this state has version {found}, and this baler reads version {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// Its conversation cannot be read.
    #[error("the conversation of this state cannot be read")]
    Conversation(#[from] ReadError),
    /// An option makes no sense.
    #[error(transparent)]
    Options(#[from] OptionError),
}

impl Compactor {
    /// All that has to be known to go on later, as JSON: every message that ever came, and what
    /// compactions made of them, what is pinned, and by what it is counted. Options, strategies, hooks
    /// and the context are the program's own, and not part of it; nor are repairs
    /// ([`Conversation::repaired`]) that no receipt has told of yet.
    ///
    /// # Errors
    /// The state is no JSON, for which no reason is known.
    pub fn save(&self) -> Result<String, SaveError> {
        let frame = RawValue::from_string(self.view.frame().empty())
            .map_err(|error| SaveError::of(&error))?;
        let saved = Saved {
            compactor: VERSION,
            format: self.view.format().name().to_owned(),
            frame,
            journal: &self.journal,
            known: Some(self.view.known()),
            reported: self.reported,
            failures: self.failures,
            fruitless: self.fruitless,
            settled: self.settled,
            left: &self.left,
            has_unlisted: self.has_unlisted,
            pinned: &self.pinned,
            recorded_summaries: self.view.recorded_summaries(),
        };
        serde_json::to_string(&saved).map_err(|error| SaveError::of(&error))
    }

    /// Goes on from what [`Compactor::save`] wrote: with the same messages, byte for byte, and the same
    /// counts, whatever tokenizer this host has. White space between the messages may be another, and
    /// an `input` that was a text is a list of one message. Summaries are known as such only to a host
    /// with the same key.
    ///
    /// # Errors
    /// It is no such state; or an option makes no sense.
    pub fn resume(
        host: Arc<Host>,
        saved: &str,
        chain: impl Into<Arc<[Strategy]>>,
        options: CompactorOptions,
    ) -> Result<Self, ResumeError> {
        let malformed = |what: String| ResumeError::Malformed(what);
        let found: Version =
            serde_json::from_str(saved).map_err(|error| malformed(error.to_string()))?;
        if found.compactor != VERSION {
            return Err(ResumeError::Version {
                found: found.compactor,
            });
        }
        let saved: Saved<Journal, Vec<String>, Pinned> =
            serde_json::from_str(saved).map_err(|error| malformed(error.to_string()))?;
        let format: Format = saved.format.parse().map_err(malformed)?;
        let mut journal = saved.journal;
        if !journal.restore() {
            let what = "a compaction names messages that did not come before it";
            return Err(malformed(what.to_owned()));
        }
        let frame = host.read_as(saved.frame.get(), format)?;
        let messages = journal.view_before(usize::MAX);
        let document = frame.frame().write(messages.iter().copied());
        let view = host
            .read_as(&document, format)?
            .with_recorded_summaries(&saved.recorded_summaries);
        let view = match &saved.known {
            Some(known) => view
                .with_known(known)
                .map_err(|error| malformed(error.to_string()))?,
            None => view,
        };
        if !saved.pinned.is_in(&view) {
            let what = "it pins messages that are not in its conversation";
            return Err(malformed(what.to_owned()));
        }
        let mut compactor = Self::new(host, view, chain, options)?;
        compactor.journal = journal;
        compactor.reported = saved.reported;
        compactor.failures = saved.failures;
        compactor.fruitless = saved.fruitless;
        compactor.settled = saved.settled;
        compactor.left = saved.left;
        compactor.has_unlisted = saved.has_unlisted;
        compactor.pinned = saved.pinned;
        Ok(compactor)
    }
}

#[derive(Deserialize)]
struct Version {
    compactor: u32,
}

impl Host {
    /// Reads a document of this format, as it is.
    pub(super) fn read_as(
        &self,
        document: &str,
        format: Format,
    ) -> Result<Conversation, ReadError> {
        self.reader.read_body_as(document.into(), format)
    }
}
