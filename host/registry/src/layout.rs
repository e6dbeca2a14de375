//! An OCI image layout: a folder that holds artifacts without a network.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use baler_files::Links;
use serde_json::{Value, json};

use crate::content::{check, check_digest, check_limit, described};
use crate::error::RegistryError;
use crate::file::{self, Readers};
use crate::oci::{Index, read_json, write_json};
use crate::signature::BUNDLE;
use crate::{At, Descriptor, Digest, Limits, Manifest, Place};

/// The annotation of an entry of `index.json` that is its tag.
const TAG: &str = "org.opencontainers.image.ref.name";
/// Signatures of all artifacts of a folder that are looked at. Each is read to see what it signs.
const MOST_SIGNATURES: usize = 1_000;
/// Says that a folder is a layout.
const MARKER: (&str, &[u8]) = ("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#);

#[derive(Debug)]
pub(crate) struct Layout {
    folder: PathBuf,
    limits: Limits,
}

impl Layout {
    pub(crate) const fn new(folder: PathBuf, limits: Limits) -> Self {
        Self { folder, limits }
    }

    pub(crate) fn place(&self) -> Place {
        Place::Layout(self.folder.clone())
    }

    pub(crate) fn manifest(&self, at: &At) -> Result<Manifest, RegistryError> {
        let what = format!("the manifest `{at}`");
        let digest = match at {
            At::Digest(digest) => *digest,
            At::Tag(tag) => {
                let index = self.index()?;
                let entry = index.manifests.iter().find(|entry| has_tag(entry, tag));
                let entry = entry.ok_or_else(|| self.missing(what.clone()))?;
                digest_of(entry)?
            }
        };
        let content = self.content(digest, self.limits.manifest)?;
        let content = content.ok_or_else(|| self.missing(format!("the blob {digest}")))?;
        check_digest(what, digest, &content)?;
        Ok(Manifest::new(content))
    }

    pub(crate) fn blob(&self, blob: &Descriptor, limit: usize) -> Result<Vec<u8>, RegistryError> {
        check_limit(blob, limit)?;
        let content = self.content(blob.digest, limit)?;
        let content = content.ok_or_else(|| self.missing(described(blob)))?;
        check(blob, &content)?;
        Ok(content)
    }

    pub(crate) fn tags(&self) -> Result<Vec<String>, RegistryError> {
        let index = self.index()?;
        let tags = index.manifests.iter().filter_map(|entry| {
            let tag = entry["annotations"][TAG].as_str()?;
            Some(tag.to_owned())
        });
        Ok(tags.collect())
    }

    /// Looks for what has this subject among what `index.json` says is an artifact.
    pub(crate) fn referrers(&self, subject: Digest) -> Result<Index, RegistryError> {
        let mut found = Index::default();
        let mut looked_at = BTreeSet::new();
        for entry in self.index()?.manifests {
            // An index may name one manifest again and again.
            if entry["artifactType"] != BUNDLE || !looked_at.insert(digest_of(&entry)?) {
                continue;
            }
            if looked_at.len() > MOST_SIGNATURES {
                return Err(RegistryError::TooMany {
                    what: format!("signatures in `{}`", self.folder.display()),
                    limit: MOST_SIGNATURES,
                });
            }
            let digest = digest_of(&entry)?;
            let content = self.content(digest, self.limits.bundle)?;
            let content = content.ok_or_else(|| self.missing(format!("the blob {digest}")))?;
            let manifest = Manifest::new(content);
            check_digest(format!("the manifest {digest}"), digest, manifest.bytes())?;
            let manifest = manifest.image()?;
            if manifest.subject.is_some_and(|its| its.digest == subject) {
                found.manifests.push(entry);
            }
        }
        Ok(found)
    }

    pub(crate) fn push_blob(&self, content: &[u8]) -> Result<(), RegistryError> {
        let path = self.blob_path(Digest::of(content));
        if let Some(blobs) = path.parent() {
            std::fs::create_dir_all(blobs).map_err(file::failed("make the folder", blobs))?;
        }
        write(&path, content)
    }

    pub(crate) fn push_manifest(
        &self,
        manifest: &Manifest,
        tag: Option<&str>,
    ) -> Result<(), RegistryError> {
        let image = manifest.image()?;
        // Two writers at the same time can lose an entry.
        let mut index = match self.index() {
            Err(RegistryError::Missing { .. }) => Index::default(),
            index => index?,
        };
        self.push_blob(manifest.bytes())?;
        let mut entry = manifest.descriptor();
        entry.artifact_type = image.subject.and(image.artifact_type);
        if let Some(tag) = tag {
            entry.annotations.insert(TAG.to_owned(), tag.to_owned());
        }
        let entry: Value = json!(entry);
        // A tag means one manifest, and a manifest without a tag is listed once.
        index.manifests.retain(|other| match tag {
            Some(tag) => !has_tag(other, tag),
            None => *other != entry,
        });
        index.manifests.push(entry);
        write(&self.folder.join(MARKER.0), MARKER.1)?;
        write(&self.folder.join("index.json"), &write_json(&index)?)
    }

    fn index(&self) -> Result<Index, RegistryError> {
        let path = self.folder.join("index.json");
        let content = read(&path, self.limits.manifest)?;
        let content = content.ok_or_else(|| self.missing("`index.json`".to_owned()))?;
        read_json(&content, || format!("`{}`", path.display()))
    }

    fn content(&self, digest: Digest, limit: usize) -> Result<Option<Vec<u8>>, RegistryError> {
        read(&self.blob_path(digest), limit)
    }

    fn blob_path(&self, digest: Digest) -> PathBuf {
        self.folder.join("blobs/sha256").join(digest.hex())
    }

    fn missing(&self, what: String) -> RegistryError {
        RegistryError::Missing {
            place: self.place().to_string(),
            what,
        }
    }
}

fn has_tag(entry: &Value, tag: &str) -> bool {
    entry["annotations"][TAG] == tag
}

fn digest_of(entry: &Value) -> Result<Digest, RegistryError> {
    let text = entry["digest"].as_str().unwrap_or_default();
    text.parse().map_err(|error| {
        let what = "the digest of an entry of `index.json`".to_owned();
        RegistryError::invalid(what, "SHA-256".to_owned(), format!("{error}"))
    })
}

fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, RegistryError> {
    file::read(path, limit, Links::Followed, || RegistryError::TooLarge {
        what: format!("`{}`", path.display()),
        limit: limit as u64,
        found: "more".to_owned(),
    })
}

fn write(path: &Path, content: &[u8]) -> Result<(), RegistryError> {
    Ok(file::write(path, content, Readers::Everybody)?)
}
