//! Options of a host.

use std::path::PathBuf;

use baler_conversation::marks::SecretKey;
use baler_conversation::tokenizers::Tokenizer;
use baler_conversation::{Format, Reader};

use super::Host;
#[cfg(feature = "sandbox")]
use super::components::Components;
use crate::archive::Archive;
use crate::error::HostError;
use crate::limits::EngineLimits;
use crate::model::ModelGrant;
use crate::quarantine::Quarantine;
use crate::state;

/// Options of a [`Host`].
#[derive(Debug, Default)]
pub struct HostBuilder {
    limits: EngineLimits,
    state: Option<PathBuf>,
    key: Option<SecretKey>,
    archive: ArchiveChoice,
    format: Option<Format>,
    tokenizer: Option<Tokenizer>,
    model: Option<ModelGrant>,
    #[cfg(feature = "sandbox")]
    pub(super) components: Components,
}

/// Archive of a host.
#[derive(Debug, Default)]
enum ArchiveChoice {
    /// A folder in the state folder, if there is one.
    #[default]
    InState,
    None,
    Given(Archive),
}

impl HostBuilder {
    builder_setters! {
        /// Sets the limits of the engine. Default: [`EngineLimits::default`].
        limits: EngineLimits;
        /// Sets the key that seals the marks of summaries, for programs that share a key. Default: the key in the
        /// state folder.
        key: Option<SecretKey>;
        /// Sets the wire format of all documents. Default: detected for each document.
        format: Option<Format>;
        /// Sets the tokenizer. Default: the vocabulary of the model that the document names.
        tokenizer: Option<Tokenizer>;
        /// Grants a model to the host's own `native:summarize`. Every chain then ends with `native:summarize`,
        /// `native:digest` and `native:truncate`. Other strategies get a model by [`Strategy::with_model`](crate::Strategy::with_model).
        model: Option<ModelGrant>;
    }

    /// Sets the state folder, which is created if it does not exist. It holds the key that seals the marks of
    /// summaries, compiled code, and the folder `archive` for removed content.
    ///
    /// Without a state folder the key lasts as long as the host, so summaries of an earlier run are read as
    /// ordinary messages; each load compiles; and removed content is lost unless [`HostBuilder::archive`]
    /// sets an archive.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn state(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// Sets the archive of removed content. Default: the folder `archive` in the state folder.
    #[must_use]
    pub fn archive(mut self, archive: Archive) -> Self {
        self.archive = ArchiveChoice::Given(archive);
        self
    }

    /// Uses no archive: removed content is lost, and placeholders have no references.
    #[must_use]
    pub fn without_archive(mut self) -> Self {
        self.archive = ArchiveChoice::None;
        self
    }

    /// Creates the host.
    ///
    /// # Errors
    /// The state folder cannot be created, or other users own it or may write to it; its key or its archive
    /// cannot be opened; or the system has no random numbers for a key.
    pub fn build(self) -> Result<Host, HostError> {
        let key = match (self.key, &self.state) {
            (Some(key), _) => key,
            (None, Some(folder)) => state::key(folder)?,
            (None, None) => SecretKey::random().map_err(HostError::Random)?,
        };
        let archive = match (self.archive, &self.state) {
            (ArchiveChoice::Given(archive), _) => Some(archive),
            (ArchiveChoice::InState, Some(folder)) => Some(Archive::open(folder.join("archive"))?),
            (ArchiveChoice::InState, None) | (ArchiveChoice::None, _) => None,
        };
        Ok(Host {
            reader: Reader::new(key)
                .with_format(self.format)
                .with_tokenizer(self.tokenizer),
            archive,
            quarantine: Quarantine::new(&self.limits),
            model: self.model,
            summarizer_gate: None,
            #[cfg(feature = "sandbox")]
            components: self.components.with(self.limits, self.state),
        })
    }
}
