//! A repository of a registry, by the OCI Distribution Specification.
//!
//! The requests are made here and not by `oci-client`, because that reads manifests, lists and errors into memory
//! without a limit, and follows redirects to any host.

mod answer;
mod authorization;
mod request;

use std::sync::Mutex;
use std::time::Duration;

use baler_models::clients::{BaseUrl, connections};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue, LINK, LOCATION};
use reqwest::{Response, StatusCode, Url};
use serde::Deserialize;
use tokio::time::Instant;

use self::request::Access;
use crate::content::{check, check_digest, check_limit, described};
use crate::error::RegistryError;
use crate::oci::{INDEX, Index, MANIFEST, read_json, write_json};
use crate::transport::Options;
use crate::{At, Credentials, Descriptor, Digest, Limits, Manifest, Place};

/// What a registry says that it answers with.
const CONTENT_DIGEST: &str = "docker-content-digest";
/// A registry that keeps lists of referrers says so when it gets one.
const SUBJECT: &str = "oci-subject";

pub(crate) struct Registry {
    http: reqwest::Client,
    host: String,
    repository: String,
    /// Ends with a slash.
    base: Url,
    credentials: Option<Credentials>,
    content_hosts: Vec<String>,
    /// What the registry accepted last, and for what.
    authorization: Mutex<Option<(Access, HeaderValue)>>,
    limits: Limits,
    deadline: Instant,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registry({})", self.place())
    }
}

impl Registry {
    pub(crate) fn new(
        host: &str,
        repository: &str,
        options: Options,
    ) -> Result<Self, RegistryError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| RegistryError::Connection {
            host: host.to_owned(),
            what: "anything".to_owned(),
            source,
        };
        let is_local = Place::is_loopback(host);
        let scheme = if is_local || options.plain_http {
            "http"
        } else {
            "https"
        };
        if options.credentials.is_some() && scheme == "http" && !is_local {
            return Err(RegistryError::PlainHttp {
                host: host.to_owned(),
                what: "the password",
            });
        }
        let base = format!("{scheme}://{host}/v2/{repository}/");
        let base_url: BaseUrl = base.parse().map_err(|error| failed(Box::new(error)))?;
        let http = connections(&base_url, options.credentials.is_some())
            .map_err(|error| failed(Box::new(error)))?
            .read_timeout(options.limits.silence)
            .build()
            .map_err(|error| failed(Box::new(error)))?;
        Ok(Self {
            http,
            host: host.to_owned(),
            repository: repository.to_owned(),
            base: Url::parse(&base).map_err(|error| failed(Box::new(error)))?,
            credentials: options.credentials,
            content_hosts: options.content_hosts,
            authorization: Mutex::new(None),
            limits: options.limits,
            deadline: Instant::now() + options.limits.time,
        })
    }

    pub(crate) fn place(&self) -> Place {
        Place::Registry {
            host: self.host.clone(),
            repository: self.repository.clone(),
        }
    }

    pub(crate) async fn manifest(
        &self,
        at: &At,
        media_type: &'static str,
    ) -> Result<Manifest, RegistryError> {
        let what = format!("the manifest `{at}`");
        let url = self.url(&format!("manifests/{at}"), &what)?;
        let accept = |request: reqwest::RequestBuilder| request.header(ACCEPT, media_type);
        let response = self.get(url, &what, accept).await?;
        let response = self.expect(response, StatusCode::OK, &what).await?;
        let said = response.headers().get(CONTENT_DIGEST).cloned();
        let content = self.read(response, &what, self.limits.manifest).await?;
        let manifest = Manifest::new(content);
        // Only what is computed here counts. A registry that says something else is wrong or lies.
        let said = said.as_ref().and_then(|said| said.to_str().ok());
        let said = said.filter(|said| said.starts_with("sha256:"));
        if let Some(said) = said {
            let said = said.parse().map_err(|error| {
                RegistryError::invalid(
                    what.clone(),
                    "a digest of it".to_owned(),
                    format!("{error}"),
                )
            })?;
            check_digest(what.clone(), said, manifest.bytes())?;
        }
        if let At::Digest(digest) = at {
            check_digest(what, *digest, manifest.bytes())?;
        }
        Ok(manifest)
    }

    pub(crate) async fn blob(
        &self,
        blob: &Descriptor,
        limit: usize,
    ) -> Result<Vec<u8>, RegistryError> {
        check_limit(blob, limit)?;
        let what = described(blob);
        let url = self.url(&format!("blobs/{}", blob.digest), &what)?;
        let response = self.get(url, &what, |request| request).await?;
        let response = self.expect(response, StatusCode::OK, &what).await?;
        // The size is within the limit.
        let size = usize::try_from(blob.size).unwrap_or(limit);
        let content = match self.read(response, &what, size).await {
            Err(RegistryError::TooLarge { found, .. }) => {
                return Err(RegistryError::Size {
                    what,
                    expected: blob.size,
                    found,
                });
            }
            content => content?,
        };
        check(blob, &content)?;
        Ok(content)
    }

    pub(crate) async fn tags(&self) -> Result<Vec<String>, RegistryError> {
        #[derive(Deserialize)]
        struct Page {
            /// `null` in some registries where there are none.
            tags: Option<Vec<String>>,
        }
        let what = "the list of tags";
        let mut tags = Vec::new();
        for page in self.pages("tags/list", what).await? {
            let page: Page = read_json(&page, || what.to_owned())?;
            tags.extend(page.tags.unwrap_or_default());
        }
        Ok(tags)
    }

    /// Asks for the list of what refers to a manifest. Registries that keep none have it under a tag, if a client made
    /// one.
    pub(crate) async fn referrers(&self, subject: Digest) -> Result<Index, RegistryError> {
        let what = "the list of referrers";
        let pages = match self.pages(&format!("referrers/{subject}"), what).await {
            Err(RegistryError::Missing { .. }) => return self.tagged_referrers(subject).await,
            pages => pages?,
        };
        let mut all = Index::default();
        for page in pages {
            let page: Index = read_json(&page, || what.to_owned())?;
            all.manifests.extend(page.manifests);
        }
        Ok(all)
    }

    async fn tagged_referrers(&self, subject: Digest) -> Result<Index, RegistryError> {
        match self.manifest(&referrers_tag(subject), INDEX).await {
            Err(RegistryError::Missing { .. }) => Ok(Index::default()),
            index => read_json(index?.bytes(), || "the tagged list of referrers".to_owned()),
        }
    }

    pub(crate) async fn push_blob(&self, content: &[u8]) -> Result<(), RegistryError> {
        let blob = Descriptor::of("", content);
        let what = described(&blob);
        let url = self.url(&format!("blobs/{}", blob.digest), &what)?;
        let head = |http: &reqwest::Client| http.head(url.clone());
        if self.send(Access::Push, &what, head).await?.status() == StatusCode::OK {
            return Ok(());
        }
        let url = self.url("blobs/uploads/", &what)?;
        let begin = |http: &reqwest::Client| http.post(url.clone()).body("");
        let begun = self.send(Access::Push, &what, begin).await?;
        let begun = self.expect(begun, StatusCode::ACCEPTED, &what).await?;
        let mut upload = self.location(&begun, &what)?;
        let digest = blob.digest.to_string();
        upload.query_pairs_mut().append_pair("digest", &digest);
        let put = |http: &reqwest::Client| {
            let put = http.put(upload.clone());
            let put = put.header(CONTENT_TYPE, "application/octet-stream");
            put.body(content.to_owned())
        };
        let done = self.send(Access::Push, &what, put).await?;
        self.expect(done, StatusCode::CREATED, &what).await?;
        Ok(())
    }

    pub(crate) async fn push_manifest(
        &self,
        manifest: &Manifest,
        tag: Option<&str>,
    ) -> Result<(), RegistryError> {
        let image = manifest.image()?;
        let at = match tag {
            Some(tag) => At::Tag(tag.to_owned()),
            None => At::Digest(manifest.digest()),
        };
        let response = self.put(&at, MANIFEST, manifest.bytes()).await?;
        if let Some(subject) = image.subject
            && !response.headers().contains_key(SUBJECT)
        {
            let mut entry = manifest.descriptor();
            entry.artifact_type = image.artifact_type;
            entry.annotations = image.annotations;
            self.add_tagged_referrer(subject.digest, &entry).await?;
        }
        Ok(())
    }

    /// Adds an entry to the list that clients keep for registries that keep none. Two writers at the same time can lose
    /// an entry.
    async fn add_tagged_referrer(
        &self,
        subject: Digest,
        entry: &Descriptor,
    ) -> Result<(), RegistryError> {
        let mut index = self.tagged_referrers(subject).await?;
        let digest = entry.digest.to_string();
        if index.having("digest", &digest).next().is_none() {
            let entry = read_json(&write_json(entry)?, || "the entry".to_owned())?;
            index.manifests.push(entry);
            index.media_type = Some(INDEX.to_owned());
            let at = referrers_tag(subject);
            self.put(&at, INDEX, &write_json(&index)?).await?;
        }
        Ok(())
    }

    async fn put(
        &self,
        at: &At,
        media_type: &'static str,
        content: &[u8],
    ) -> Result<Response, RegistryError> {
        let what = format!("the manifest `{at}`");
        let url = self.url(&format!("manifests/{at}"), &what)?;
        let put = |http: &reqwest::Client| {
            let put = http.put(url.clone()).header(CONTENT_TYPE, media_type);
            put.body(content.to_owned())
        };
        let response = self.send(Access::Push, &what, put).await?;
        self.expect(response, StatusCode::CREATED, &what).await
    }

    /// Reads a list that may have several pages.
    async fn pages(&self, path: &str, what: &str) -> Result<Vec<Vec<u8>>, RegistryError> {
        let mut url = self.url(path, what)?;
        let mut pages = Vec::new();
        let mut left = self.limits.manifest;
        loop {
            let response = self.get(url.clone(), what, |request| request).await?;
            let response = self.expect(response, StatusCode::OK, what).await?;
            let link = response.headers().get(LINK).cloned();
            let page = self.read(response, what, left).await?;
            left -= page.len();
            pages.push(page);
            let link = link.as_ref().and_then(|link| link.to_str().ok());
            // `<…>; rel="next"`
            let next = link.and_then(|link| link.split_once('<')?.1.split_once('>'));
            let Some((next, _)) = next else {
                return Ok(pages);
            };
            if pages.len() == self.limits.pages {
                return Err(RegistryError::TooMany {
                    what: format!("pages of {what}"),
                    limit: self.limits.pages,
                });
            }
            url = self.own(&url, next, what)?;
        }
    }

    fn url(&self, path: &str, what: &str) -> Result<Url, RegistryError> {
        self.own(&self.base, path, what)
    }

    /// Returns where an answer says that an upload goes on.
    fn location(&self, response: &Response, what: &str) -> Result<Url, RegistryError> {
        let location = response.headers().get(LOCATION);
        let location = location.and_then(|location| location.to_str().ok());
        let location = location.ok_or_else(|| {
            let expected = "a place to go on at".to_owned();
            RegistryError::invalid(what.to_owned(), expected, "none".to_owned())
        })?;
        self.own(response.url(), location, what)
    }

    /// Returns the URL that `reference` means at `base`, if it is one of this registry.
    fn own(&self, base: &Url, reference: &str, what: &str) -> Result<Url, RegistryError> {
        let url = base.join(reference).ok();
        let own = url.clone();
        let own = own.filter(|url| url.origin() == self.base.origin());
        own.ok_or_else(|| RegistryError::Redirect {
            host: self.host.clone(),
            what: what.to_owned(),
            found: request::origin(url.as_ref(), reference),
        })
    }

    fn slow(&self, what: &str, limit: Duration) -> RegistryError {
        RegistryError::Slow {
            host: self.host.clone(),
            what: what.to_owned(),
            limit,
        }
    }
}

/// Where a list of referrers is, if the registry keeps none.
fn referrers_tag(subject: Digest) -> At {
    At::Tag(format!("sha256-{}", subject.hex()))
}
