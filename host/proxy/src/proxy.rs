//! The proxy: configuring, starting and stopping.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use baler_host::FileError;
use baler_host::view::Window;
use baler_http::{Listener, ServerError, ServerLimits, Token};

use crate::body::Room;
use crate::fit::Fitter;
use crate::relay::{App, relay};
use crate::session::{Exchange, Observer};
use crate::stored::Stored;
use crate::upstream::{Connected, UpstreamError, Upstreams};

/// The error of a proxy that cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The address cannot be bound, or can be reached from other machines and no token is set.
    #[error(transparent)]
    Listen(#[from] ServerError),
    /// An upstream cannot be used.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The folder of views cannot be used.
    #[error(transparent)]
    Views(#[from] FileError),
}

/// Configures and binds a [`Proxy`]. Made by [`Proxy::builder`].
pub struct ProxyBuilder {
    window: Window,
    upstreams: Upstreams,
    limits: ServerLimits,
    token: Option<Token>,
    views: Option<PathBuf>,
    is_shadow: bool,
    observer: Option<Observer>,
    pages: Router,
}

impl fmt::Debug for ProxyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyBuilder")
            .field("window", &self.window)
            .field("upstreams", &self.upstreams)
            .field("views", &self.views)
            .finish_non_exhaustive()
    }
}

impl ProxyBuilder {
    /// Sets the limits. Default: [`Proxy::limits`].
    #[must_use]
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the token that clients have to show in the header `x-baler-token`. Then several people may share the proxy,
    /// and what is remembered for one key of a provider is used for no other. Default: none; then only this machine is
    /// served.
    #[must_use]
    pub fn token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Sets the folder in which views outlive the proxy, so that sessions go on as they were shown. With a token, and
    /// in the shadow, nothing is stored. Default: none.
    #[must_use]
    pub fn views(mut self, folder: impl Into<PathBuf>) -> Self {
        self.views = Some(folder.into());
        self
    }

    /// Only observes: all requests go on as they came.
    #[must_use]
    pub fn shadow(mut self, is_shadow: bool) -> Self {
        self.is_shadow = is_shadow;
        self
    }

    /// Sets what is told of each exchange when its answer has ended. It must not block. Default: nothing.
    #[must_use]
    pub fn on_exchange(mut self, tell: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(tell));
        self
    }

    /// Sets what answers requests to `/ui`, `/mcp` and `/metrics`, and to paths below. Pages at `/ui` ask for the token
    /// themselves, since browsers cannot send the header. Default: nothing.
    // For the program: its router is of an engine that may change.
    #[doc(hidden)]
    #[must_use]
    pub fn pages(mut self, pages: Router) -> Self {
        self.pages = pages;
        self
    }

    /// Binds the proxy to an address. Port 0 selects a free port, see [`Proxy::address`]. Runs in a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be bound, or can be reached from other machines and no token is set; an upstream cannot be
    /// used; or the folder of views cannot be.
    pub fn bind(self, address: SocketAddr) -> Result<Proxy, ProxyError> {
        let listener = Listener::bind(address, self.token.as_ref())?;
        let upstreams = Connected::all(&self.upstreams)?;
        let is_shared = self.token.is_some();
        let folder = self.views.as_deref();
        let folder = folder.filter(|_| !is_shared && !self.is_shadow);
        let stored = folder.map(Stored::open).transpose()?;
        let limits = self.limits;
        Ok(Proxy {
            listener,
            limits,
            app: Arc::new(App {
                upstreams,
                fitter: Arc::new(Fitter::new(
                    self.window,
                    is_shared,
                    stored,
                    limits.concurrency,
                )),
                room: Room::new(limits.buffered_bytes, limits.body_bytes, limits.read_time),
                most_bytes: limits.body_bytes,
                token: self.token,
                is_shadow: self.is_shadow,
                observer: self.observer,
                pages: self.pages,
            }),
        })
    }
}

/// A proxy between agents and their model providers, bound to its address.
pub struct Proxy {
    listener: Listener,
    limits: ServerLimits,
    app: Arc<App>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("address", &self.address())
            .finish_non_exhaustive()
    }
}

impl Proxy {
    /// Configures a proxy that keeps requests within a window.
    #[must_use]
    pub fn builder(window: Window, upstreams: Upstreams) -> ProxyBuilder {
        ProxyBuilder {
            window,
            upstreams,
            limits: Self::limits(),
            token: None,
            views: None,
            is_shadow: false,
            observer: None,
            pages: Router::new(),
        }
    }

    /// Returns the limits of a proxy: those of a server, with time for answers that stream for hours, clients that sleep,
    /// and connections that wait for the next request.
    #[must_use]
    pub fn limits() -> ServerLimits {
        ServerLimits {
            head_time: Duration::from_secs(2 * 60),
            write_stall: Duration::from_secs(5 * 60),
            write_time: Duration::from_secs(24 * 60 * 60),
            ..ServerLimits::default()
        }
    }

    /// Returns the address on which the proxy listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves until `stop` completes. Then accepts no more connections and requests, and gives running ones time to end
    /// ([`ServerLimits::grace`]). After that, closes all connections.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let app = self.app;
        let router =
            Router::new().fallback(move |request: Request<Body>| relay(Arc::clone(&app), request));
        self.listener.serve(router, self.limits, stop).await;
    }
}
