//! Sends requests: with authorization, within the time, and to no other host.

use reqwest::header::{AUTHORIZATION, LOCATION};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};

use super::Registry;
use crate::Place;
use crate::error::RegistryError;
use crate::shown::shown;

/// Maximum number of redirects of one request.
const MOST_REDIRECTS: usize = 3;

/// What a request does, and thus what a token for it must allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It reads.
    Pull,
    /// It writes.
    Push,
}

impl Registry {
    /// Sends a request that reads, and follows redirects within this host and to those hosts that were allowed.
    pub(super) async fn get(
        &self,
        mut url: Url,
        what: &str,
        with: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<Response, RegistryError> {
        for _ in 0..=MOST_REDIRECTS {
            let get = |http: &Client| with(http.get(url.clone()));
            let response = if url.origin() == self.base.origin() {
                self.send(Access::Pull, what, get).await?
            } else {
                self.send_once(get(&self.http), what).await?
            };
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let location = response.headers().get(LOCATION);
            let location = location.and_then(|location| location.to_str().ok());
            let location = location.unwrap_or_default();
            url = self.redirected(&url, location, what)?;
        }
        Err(RegistryError::Redirect {
            host: self.host.clone(),
            what: what.to_owned(),
            found: format!("{} after {MOST_REDIRECTS} others", origin(Some(&url), "")),
        })
    }

    /// Returns where a redirect leads, if it may be followed.
    fn redirected(&self, from: &Url, location: &str, what: &str) -> Result<Url, RegistryError> {
        let refused = match self.own(from, location, what) {
            Err(refused) => refused,
            own => return own,
        };
        let is_named = |url: &Url| {
            let host = host_of(url);
            let is_encrypted = url.scheme() == "https" || Place::is_loopback(&host);
            is_encrypted && self.content_hosts.contains(&host)
        };
        let url = from.join(location).ok().filter(is_named);
        url.ok_or(refused)
    }

    /// Sends a request to this registry. If the registry demands authorization, asks for it and sends the request again.
    pub(super) async fn send(
        &self,
        access: Access,
        what: &str,
        make: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Response, RegistryError> {
        let mut request = make(&self.http);
        if let Some(authorization) = self.known_authorization(access) {
            request = request.header(AUTHORIZATION, authorization);
        }
        let response = self.send_once(request, what).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let authorization = self.authorize(&response, access, what).await?;
        // The rest of the answer is not read, so its connection is not used again.
        drop(response);
        let request = make(&self.http).header(AUTHORIZATION, authorization);
        self.send_once(request, what).await
    }

    pub(super) async fn send_once(
        &self,
        request: RequestBuilder,
        what: &str,
    ) -> Result<Response, RegistryError> {
        let sent = tokio::time::timeout_at(self.deadline, request.send()).await;
        let sent = sent.map_err(|_| self.slow(what, self.limits.time))?;
        sent.map_err(|error| self.failed(error, what))
    }

    /// Returns why there is no answer.
    pub(super) fn failed(&self, error: reqwest::Error, what: &str) -> RegistryError {
        if error.is_timeout() && !error.is_connect() {
            return self.slow(what, self.limits.silence);
        }
        RegistryError::Connection {
            host: self.host.clone(),
            what: what.to_owned(),
            // The URL may hold a signature of the server that the content comes from.
            source: Box::new(error.without_url()),
        }
    }
}

/// Returns the host of a URL, with its port if it names one.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Names the server of a URL in errors; a text that is no URL by its beginning.
pub(super) fn origin(url: Option<&Url>, text: &str) -> String {
    match url {
        Some(url) => format!("{}://{}", url.scheme(), host_of(url)),
        None => format!("`{}`", shown(text)),
    }
}
