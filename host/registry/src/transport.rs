//! What is the same for a registry and a layout folder.

use crate::error::RegistryError;
use crate::layout::Layout;
use crate::oci::{Index, MANIFEST};
use crate::registry::Registry;
use crate::{At, Credentials, Descriptor, Digest, Limits, Manifest, Place};

/// How a place is opened.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Limits of what is read.
    pub limits: Limits,
    /// Name and password for the registry. They are sent to nobody else but the server that the registry names for
    /// making tokens of them.
    pub credentials: Option<Credentials>,
    /// Whether a registry on another machine is asked without encryption. Then it gets no credentials.
    pub plain_http: bool,
    /// Other hosts to which the registry may redirect for content, with their ports. They get no credentials.
    pub content_hosts: Vec<String>,
}

impl Options {
    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the credentials.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Option<Credentials>) -> Self {
        self.credentials = credentials;
        self
    }

    /// Sets whether a registry on another machine is asked without encryption.
    #[must_use]
    pub const fn with_plain_http(mut self, plain_http: bool) -> Self {
        self.plain_http = plain_http;
        self
    }

    /// Sets to which other hosts the registry may redirect for content.
    #[must_use]
    pub fn with_content_hosts(mut self, hosts: Vec<String>) -> Self {
        self.content_hosts = hosts;
        self
    }
}

/// An opened place. All that it returns has been checked against what was asked for, and is within the limits.
#[derive(Debug)]
pub struct Transport {
    backend: Backend,
    limits: Limits,
}

#[derive(Debug)]
enum Backend {
    Registry(Box<Registry>),
    Layout(Layout),
}

impl Transport {
    /// Opens a place. Asks nobody anything yet. The time of [`Limits::time`] begins.
    ///
    /// # Errors
    /// The registry is on another machine and would be asked without encryption, or TLS cannot be set up.
    pub fn open(place: &Place, options: Options) -> Result<Self, RegistryError> {
        let limits = options.limits;
        let backend = match place {
            Place::Registry { host, repository } => {
                Backend::Registry(Box::new(Registry::new(host, repository, options)?))
            }
            Place::Layout(folder) => Backend::Layout(Layout::new(folder.clone(), limits)),
        };
        Ok(Self { backend, limits })
    }

    /// Returns the limits.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the place.
    #[must_use]
    pub fn place(&self) -> Place {
        match &self.backend {
            Backend::Registry(registry) => registry.place(),
            Backend::Layout(layout) => layout.place(),
        }
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// There is none, or it is not what was asked for.
    pub async fn manifest(&self, at: &At) -> Result<Manifest, RegistryError> {
        match &self.backend {
            Backend::Registry(registry) => registry.manifest(at, MANIFEST).await,
            Backend::Layout(layout) => layout.manifest(at),
        }
    }

    /// Like [`manifest`](Self::manifest), but it may be missing.
    pub(crate) async fn find(&self, at: &At) -> Result<Option<Manifest>, RegistryError> {
        match self.manifest(at).await {
            Err(RegistryError::Missing { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Reads content of at most `limit` bytes.
    pub(crate) async fn blob(
        &self,
        blob: &Descriptor,
        limit: usize,
    ) -> Result<Vec<u8>, RegistryError> {
        match &self.backend {
            Backend::Registry(registry) => registry.blob(blob, limit).await,
            Backend::Layout(layout) => layout.blob(blob, limit),
        }
    }

    /// Returns all tags.
    ///
    /// # Errors
    /// There is no such place, or the list is not valid or too long.
    pub async fn tags(&self) -> Result<Vec<String>, RegistryError> {
        match &self.backend {
            Backend::Registry(registry) => registry.tags().await,
            Backend::Layout(layout) => layout.tags(),
        }
    }

    /// Returns what has the manifest `subject` as its subject.
    pub(crate) async fn referrers(&self, subject: Digest) -> Result<Index, RegistryError> {
        match &self.backend {
            Backend::Registry(registry) => registry.referrers(subject).await,
            Backend::Layout(layout) => layout.referrers(subject),
        }
    }

    /// Writes content.
    pub(crate) async fn push_blob(&self, content: &[u8]) -> Result<(), RegistryError> {
        match &self.backend {
            Backend::Registry(registry) => registry.push_blob(content).await,
            Backend::Layout(layout) => layout.push_blob(content),
        }
    }

    /// Writes a manifest, whose content was written before, and lets `tag` mean it.
    pub(crate) async fn push_manifest(
        &self,
        manifest: &Manifest,
        tag: Option<&str>,
    ) -> Result<(), RegistryError> {
        match &self.backend {
            Backend::Registry(registry) => registry.push_manifest(manifest, tag).await,
            Backend::Layout(layout) => layout.push_manifest(manifest, tag),
        }
    }
}
