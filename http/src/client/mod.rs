//! Remote strategies behind a URL.

mod exchange;
mod tls;
mod url;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use baler_host::{Asked, Question, Remote};
use tokio_rustls::TlsConnector;

use url::Address;
pub use url::{UrlError, is_server_of};

use crate::token::Token;

/// The most time until a connection is there.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// A remote strategy behind `http://` or `https://`: another `baler serve`, or any program that
/// speaks the same protocol.
///
/// Every question is one connection of its own. Redirects are not followed, so the conversation
/// and the token go nowhere else.
pub struct HttpRemote {
    address: Address,
    tls: Option<TlsConnector>,
    token: Option<Token>,
    connect_time: Duration,
}

impl HttpRemote {
    /// The strategy behind `url`, to which `/v1/compact` and the like are added. Nothing is
    /// connected to yet.
    ///
    /// # Errors
    /// It is no such URL; or it is an `https` one, and this machine has no certificates to check
    /// servers by.
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

    /// The token that its server wants. No other server gets it.
    ///
    /// # Errors
    /// The URL is a plain `http` one of another machine, so that others could read the token.
    pub fn token(mut self, token: Token) -> Result<Self, UrlError> {
        if !self.address.is_private() {
            return Err(UrlError::PlainToken);
        }
        self.token = Some(token);
        Ok(self)
    }

    /// The most time until a connection is there. Default: 5 s.
    #[must_use]
    pub fn connect_time(mut self, time: Duration) -> Self {
        self.connect_time = time;
        self
    }

    /// It, to make a [`baler_host::Strategy`] of.
    #[must_use]
    pub fn shared(self) -> Arc<dyn Remote> {
        Arc::new(self)
    }
}

impl Remote for HttpRemote {
    /// Host, port and path, since a server may have a strategy behind each path.
    fn name(&self) -> &str {
        let url = self.address.url.as_str();
        url.split_once("://").map_or(url, |(_, name)| name)
    }

    fn address(&self) -> &str {
        &self.address.url
    }

    fn ask(&self, question: Question, request: String, most_bytes: usize) -> Asked<'_> {
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
