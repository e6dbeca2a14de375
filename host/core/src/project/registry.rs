//! Strategies of `baler.toml` that are in a registry, and who publishes them. This crate fetches nothing: what was pulled,
//! checked and locked comes from the crate `baler-registry`.

use std::path::{Path, PathBuf};

use super::document::{Document, Entry, KeySource, Source};
use super::error::ProjectError;

/// Where the strategy of a list is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListedSource {
    /// A `.wasm` file.
    File(PathBuf),
    /// A registry, or a folder in the layout of one.
    Registry(RegistrySource),
}

/// A strategy in a registry, as the list names it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistrySource {
    /// The place as it is written, such as `oci://registry.example/acme/keep-newest`. The path of a folder
    /// (`oci-layout:PATH`) starts from that of the list.
    pub place: String,
    /// Which version: a requirement such as `^0.1`, or the digest of a manifest. `*` if the list names none.
    pub version: String,
    /// Name of the publisher who must have signed it; `None` if nobody must.
    pub publisher: Option<String>,
}

/// A key of a publisher, as the list has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListedKey {
    /// The key, as base64 of its DER form.
    Text(String),
    /// A file that holds it as PEM.
    File(PathBuf),
}

impl ListedSource {
    /// Returns the source of an entry. Files start from `folder`.
    pub(super) fn of(entry: &Entry, folder: &Path) -> Self {
        match &entry.source {
            Source::File(file) => Self::File(folder.join(&file.path)),
            Source::Registry(place) => Self::Registry(RegistrySource {
                place: place.clone(),
                version: entry.version.clone().unwrap_or_else(|| "*".to_owned()),
                publisher: entry.publisher.clone(),
            }),
        }
    }
}

/// Returns the keys of a publisher. Files start from `folder`.
pub(super) fn keys(keys: Vec<KeySource>, folder: &Path) -> Vec<ListedKey> {
    let keys = keys.into_iter().map(|key| match key {
        KeySource::Text(text) => ListedKey::Text(text),
        KeySource::File(own) => ListedKey::File(folder.join(own.file)),
    });
    keys.collect()
}

/// Checks that what belongs to registries is only said of strategies in one, and that each publisher is known.
pub(super) fn check(document: &Document, file: &Path) -> Result<(), ProjectError> {
    for (name, entry) in &document.strategies {
        let wrong = |problem: String| {
            Err(ProjectError::Registry {
                path: file.to_owned(),
                name: name.0.clone(),
                problem,
            })
        };
        let is_file = matches!(entry.source, Source::File(_));
        if is_file && (entry.version.is_some() || entry.publisher.is_some()) {
            return wrong("its source is a file, which has no `version` and no `publisher`: pin it by `digest`".to_owned());
        }
        if !is_file && entry.digest.is_some() {
            return wrong("its source is a registry, which has no `digest`: pin it by `version = \"sha256:…\"`, the digest of its manifest, or by `baler.lock`".to_owned());
        }
        if let Some(publisher) = &entry.publisher
            && !document.publishers.contains_key(publisher)
        {
            let known: Vec<&str> = document.publishers.keys().map(String::as_str).collect();
            let known = match known.as_slice() {
                [] => "no publisher is".to_owned(),
                known => format!("known are: {}", known.join(", ")),
            };
            return wrong(format!(
                "its publisher `{publisher}` is not listed ({known}): add `[publishers.{publisher}]` with its `keys`"
            ));
        }
    }
    Ok(())
}
