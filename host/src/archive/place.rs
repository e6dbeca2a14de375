//! From a URL to an archive.

use super::Archive;
use crate::error::{ArchiveError, HostError};

/// What can be given.
#[cfg(feature = "cloud")]
const KNOWN: &str = "give a folder, `file:///…`, `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`";
#[cfg(not(feature = "cloud"))]
const KNOWN: &str = "give a folder or `file:///…`; for `s3://…`, `gs://…` and `az://…` this baler lacks the feature `cloud`";

/// What is done where a folder is no archive yet. Stores make nothing before something is stored.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Made,
    Existing,
}

impl Archive {
    /// The archive at a URL: `file:///folder`, `memory:`, and with the feature `cloud`
    /// `s3://bucket/prefix` (and all that speaks S3), `gs://bucket/prefix` or
    /// `az://container/prefix`. `options` are those of the crate `object_store`, such as
    /// `aws_endpoint`, `aws_region`, `aws_access_key_id` and `aws_secret_access_key`, and `timeout`
    /// of one request (15s); names that it does not know are passed over. Nothing is asked of the store before something is
    /// stored or read. A store over the network needs
    /// a runtime of tokio with I/O and time.
    ///
    /// # Errors
    /// It is no such URL, an option is missing or makes no sense, or as [`Archive::open`].
    pub fn at<K: AsRef<str>, V: Into<String>>(
        url: &str,
        options: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, HostError> {
        Self::at_url(url, options, Wanted::Made)
    }

    /// As [`Archive::at`], to be read or cleared: nothing is created.
    ///
    /// # Errors
    /// As [`Archive::at`], or as [`Archive::open_existing`].
    pub fn existing_at<K: AsRef<str>, V: Into<String>>(
        url: &str,
        options: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, HostError> {
        Self::at_url(url, options, Wanted::Existing)
    }

    fn at_url<K: AsRef<str>, V: Into<String>>(
        url: &str,
        options: impl IntoIterator<Item = (K, V)>,
        wanted: Wanted,
    ) -> Result<Self, HostError> {
        if url == "memory:" {
            return Ok(Self::in_memory());
        }
        let wrong = |what: &str| {
            HostError::Archive(ArchiveError::NoPlace {
                url: shown(url),
                what: what.to_owned(),
            })
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong(KNOWN))?;
        match scheme {
            "file" if rest.contains('%') || !rest.starts_with('/') => {
                Err(wrong("give the folder as a plain path"))
            }
            "file" => match wanted {
                Wanted::Made => Self::open(rest),
                Wanted::Existing => Self::open_existing(rest),
            },
            #[cfg(feature = "cloud")]
            "s3" | "gs" | "az" => {
                super::cloud::store(scheme, url, rest, options).map_err(|what| wrong(&what))
            }
            _ => {
                // Without the feature nobody asks for them.
                let _ = options;
                Err(wrong(KNOWN))
            }
        }
    }
}

/// A URL without what may be a secret in it.
pub(super) fn shown(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    match plain.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host.rsplit('@').next().unwrap_or_default();
            let slash = if path.is_empty() { "" } else { "/" };
            format!("{scheme}://{host}{slash}{path}")
        }
        None => plain.to_owned(),
    }
}
