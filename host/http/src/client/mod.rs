//! Remote strategies behind a URL.

mod exchange;
mod tls;
mod url;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use baler_host::remote::{AnswerFuture, Operation, Remote};
use tokio_rustls::TlsConnector;

use url::Address;
pub use url::{UrlError, is_server_of};

use crate::token::Token;

/// Default timeout of a connection attempt.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// A remote strategy behind `http://` or `https://`: another `baler serve`, or any program that
/// speaks the same protocol.
///
/// Each question uses a connection of its own. Redirects are not followed, so the conversation and the
/// token are sent to no other server.
pub struct HttpRemote {
    address: Address,
    tls: Option<TlsConnector>,
    token: Option<Token>,
    connect_time: Duration,
}

impl HttpRemote {
    /// Makes a strategy behind `url`, to which paths such as `/v1/compact` are appended. Does not connect
    /// yet.
    ///
    /// # Errors
    /// `url` is not the URL of a server; or it begins with `https`, and this machine has no trusted
    /// certificates.
    pub fn new(url: &str) -> Result<Self, UrlError> {
        let address = Address::parse(url)?;
        let tls = address.is_secure.then(tls::connector).transpose()?;
        Ok(Self {
            address,
            tls,
            token: None,
            connect_time: CONNECT_TIME,
        })
    }

    /// Sets the bearer token for the server. No other server gets it.
    ///
    /// # Errors
    /// The URL is plain `http` to another machine, so that others could read the token.
    pub fn token(mut self, token: Token) -> Result<Self, UrlError> {
        if !self.address.is_private() {
            return Err(UrlError::PlainToken);
        }
        self.token = Some(token);
        Ok(self)
    }

    /// Sets the timeout of a connection attempt. Default: 5 s.
    #[must_use]
    pub fn connect_time(mut self, time: Duration) -> Self {
        self.connect_time = time;
        self
    }

    /// Wraps this for [`baler_host::Strategy::remote`].
    #[must_use]
    pub fn shared(self) -> Arc<dyn Remote> {
        Arc::new(self)
    }
}

impl Remote for HttpRemote {
    /// Returns host, port and path, since a server may have a strategy behind each path.
    fn name(&self) -> &str {
        let url = self.address.url.as_str();
        url.split_once("://").map_or(url, |(_, name)| name)
    }

    fn address(&self) -> &str {
        &self.address.url
    }

    fn ask(&self, question: Operation, request: String, most_bytes: usize) -> AnswerFuture<'_> {
        Box::pin(exchange::ask(self, question, request, most_bytes))
    }
}

impl fmt::Debug for HttpRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRemote")
            .field("url", &self.address.url)
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
