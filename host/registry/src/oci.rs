//! The JSON of OCI: descriptors, image manifests and indexes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Digest;
use crate::error::RegistryError;

/// Media type of an image manifest, the only kind of manifest that strategies and signatures have.
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// Media type of an index: a list of manifests.
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// Media type of the config of a manifest that needs none, and its content.
pub(crate) const EMPTY: (&str, &[u8]) = ("application/vnd.oci.empty.v1+json", b"{}");

/// Names content by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// Media type.
    pub media_type: String,
    /// Hash of the content.
    pub digest: Digest,
    /// Length of the content in bytes.
    pub size: u64,
    /// What kind of artifact it is, if it is the manifest of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Descriptor {
    /// Returns the descriptor of `content`.
    #[must_use]
    pub fn of(media_type: &str, content: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: Digest::of(content),
            size: content.len() as u64,
            artifact_type: None,
            annotations: BTreeMap::new(),
        }
    }
}

/// The JSON of an image manifest.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImageManifest {
    pub(crate) schema_version: u8,
    pub(crate) media_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_type: Option<String>,
    pub(crate) config: Descriptor,
    pub(crate) layers: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) annotations: BTreeMap<String, String>,
}

/// The JSON of an index. Its entries stay JSON, because those of others may have members and hashes that this program
/// does not know.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Index {
    pub(crate) schema_version: u8,
    #[serde(default)]
    pub(crate) media_type: Option<String>,
    pub(crate) manifests: Vec<Value>,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            schema_version: 2,
            media_type: Some(INDEX.to_owned()),
            manifests: Vec::new(),
        }
    }
}

impl Index {
    /// Returns the entries whose member has this value.
    pub(crate) fn having<'a>(
        &'a self,
        member: &'a str,
        value: &'a str,
    ) -> impl Iterator<Item = &'a Value> {
        let entries = self.manifests.iter();
        entries.filter(move |entry| entry[member] == value)
    }
}

/// A manifest as it was read: its digest is computed from its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    bytes: Vec<u8>,
    digest: Digest,
}

impl Manifest {
    /// Takes the bytes of a manifest.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self {
            digest: Digest::of(&bytes),
            bytes,
        }
    }

    /// Returns its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the hash of its bytes.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns what names it.
    #[must_use]
    pub fn descriptor(&self) -> Descriptor {
        Descriptor::of(MANIFEST, &self.bytes)
    }

    /// Reads it as an image manifest.
    pub(crate) fn image(&self) -> Result<ImageManifest, RegistryError> {
        let what = || format!("the manifest {}", self.digest);
        let read: ImageManifest = read_json(&self.bytes, what)?;
        if (read.schema_version, read.media_type.as_str()) != (2, MANIFEST) {
            return Err(RegistryError::invalid(
                what(),
                format!("version 2 of `{MANIFEST}`"),
                format!("version {} of `{}`", read.schema_version, read.media_type),
            ));
        }
        Ok(read)
    }
}

/// Reads JSON that somebody else wrote.
pub(crate) fn read_json<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    what: impl FnOnce() -> String,
) -> Result<T, RegistryError> {
    serde_json::from_slice(bytes).map_err(|error| {
        RegistryError::invalid(what(), "JSON of its form".to_owned(), error.to_string())
    })
}

/// Writes JSON.
pub(crate) fn write_json(value: &impl Serialize) -> Result<Vec<u8>, RegistryError> {
    serde_json::to_vec(value).map_err(|error| {
        let expected = "texts that JSON can hold".to_owned();
        RegistryError::invalid(
            "what is to be written".to_owned(),
            expected,
            error.to_string(),
        )
    })
}
