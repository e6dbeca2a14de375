//! Opens the archive at a URL.

use crate::Archive;
use crate::error::OpenError;

/// The URLs that are supported.
#[cfg(feature = "cloud")]
const SUPPORTED_URLS: &str = "expected a folder, `file:///…`, `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`";
#[cfg(not(feature = "cloud"))]
const SUPPORTED_URLS: &str = "expected a folder or `file:///…`; for `s3://…`, `gs://…` and `az://…` build baler with the feature `cloud`";

/// Whether to create an archive in a folder that is none yet. In a store nothing is created before the first
/// write.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Made,
    Existing,
}

impl Archive {
    /// Opens the archive at a URL: `file:///folder`, `memory:`, and with the feature `cloud` also
    /// `s3://bucket/prefix` (every store with the S3 protocol), `gs://bucket/prefix` and
    /// `az://container/prefix`.
    ///
    /// `options` are those of the crate `object_store`, such as `aws_endpoint`, `aws_region`,
    /// `aws_access_key_id` and `aws_secret_access_key`, and `timeout`, the time limit of one request
    /// (default: `15s`). Unknown names are ignored. No request is sent before something is stored or read. A
    /// store over the network needs a tokio runtime with I/O and time.
    ///
    /// # Errors
    /// Returns an error if the URL is not supported, if an option is missing or invalid, or for the reasons
    /// of [`Archive::open`].
    pub fn at<K: AsRef<str>, V: Into<String>>(
        url: &str,
        options: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, OpenError> {
        Self::at_url(url, options, Wanted::Made)
    }

    /// Opens an existing archive at a URL, to read or clear it. Creates nothing. URLs and options are those
    /// of [`Archive::at`].
    ///
    /// # Errors
    /// Returns an error for the reasons of [`Archive::at`] and [`Archive::open_existing`].
    pub fn existing_at<K: AsRef<str>, V: Into<String>>(
        url: &str,
        options: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, OpenError> {
        Self::at_url(url, options, Wanted::Existing)
    }

    fn at_url<K: AsRef<str>, V: Into<String>>(
        url: &str,
        options: impl IntoIterator<Item = (K, V)>,
        wanted: Wanted,
    ) -> Result<Self, OpenError> {
        if url == "memory:" {
            return Ok(Self::in_memory());
        }
        let wrong = |what: &str| OpenError::NoPlace {
            url: without_secrets(url),
            what: what.to_owned(),
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong(SUPPORTED_URLS))?;
        match scheme {
            "file" if rest.contains('%') || !rest.starts_with('/') => Err(wrong(
                "expected an absolute path without `%` after `file://`; pass the folder as a plain path",
            )),
            "file" => match wanted {
                Wanted::Made => Self::open(rest),
                Wanted::Existing => Self::open_existing(rest),
            },
            #[cfg(feature = "cloud")]
            "s3" | "gs" | "az" => {
                crate::cloud::store(scheme, url, rest, options).map_err(|what| wrong(&what))
            }
            _ => {
                // Used only with the feature `cloud`.
                let _ = options;
                Err(wrong(SUPPORTED_URLS))
            }
        }
    }
}

/// Removes from a URL what may be secret: user, password, query and fragment.
pub(crate) fn without_secrets(url: &str) -> String {
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
