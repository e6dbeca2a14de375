//! The server: configuring, starting and stopping.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use baler_host::request::Policy;
use baler_host::{Host, Strategy};

use super::admission::Admission;
use super::catalog::Catalog;
use super::failure_log::FailureLog;
use super::memory::Memory;
use super::metrics::Metrics;
use super::{App, ServerLimits, routes};
use crate::listening::Listener;
use crate::token::Token;

/// The error of a server that cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Other machines could reach the server, and there is no token.
    #[error(
        "`{address}` can be reached from other machines, and no token is set: set a token, or listen on 127.0.0.1"
    )]
    NeedsToken {
        /// The address that was to be bound.
        address: SocketAddr,
    },
    /// The address cannot be bound.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address that was to be bound.
        address: SocketAddr,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
}

/// Configures and binds a [`Server`]. Made by [`Server::builder`].
#[derive(Debug)]
pub struct ServerBuilder {
    host: Host,
    chain: Vec<Strategy>,
    others: Vec<Strategy>,
    limits: ServerLimits,
    token: Option<Token>,
    failure_log: FailureLog,
    policy: Policy,
    has_echo: bool,
}

impl ServerBuilder {
    /// Sets the chain for requests that name no strategy, and for other hosts. If two strategies have
    /// one name, clients can name the first only. Default: `native:digest`.
    #[must_use]
    pub fn chain(mut self, chain: Vec<Strategy>) -> Self {
        self.chain = chain;
        self
    }

    /// Sets the strategies that clients can name in addition to those of the chain and the native ones.
    /// Default: none.
    #[must_use]
    pub fn offers(mut self, strategies: Vec<Strategy>) -> Self {
        self.others = strategies;
        self
    }

    /// Sets the limits. Default: [`ServerLimits::default`].
    #[must_use]
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the token that clients have to show. Default: none; then only this machine is served.
    #[must_use]
    pub fn token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Sets a function that gets a line of text for failures of the server itself: the error code, and
    /// the message of the system or a store, without text of a conversation. There is at most one line a
    /// second, which counts the failures that were left out. The function runs on a thread of its own.
    /// Default: none.
    #[must_use]
    pub fn on_failure(mut self, write: impl Fn(&str) + Send + 'static) -> Self {
        self.failure_log = FailureLog::new(write);
        self
    }

    /// Sets what plans may do in all compactions for clients. Default: [`Policy::default`].
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Also serves `POST /v1/echo`, which returns the body after the same checks, to measure the cost of
    /// a request without work.
    #[must_use]
    pub fn with_echo(mut self) -> Self {
        self.has_echo = true;
        self
    }

    /// Binds the server to an address. Port 0 selects a free port, see [`Server::address`].
    ///
    /// # Errors
    /// The address cannot be bound, or can be reached from other machines and no token is set.
    pub async fn bind(self, address: SocketAddr) -> Result<Server, ServerError> {
        let listener = Listener::bind(address, self.token.as_ref())?;
        let catalog = Catalog::new(self.chain, self.others);
        let admission = Admission::new(self.limits, catalog.known());
        Ok(Server {
            listener,
            app: Arc::new(App {
                host: self.host.with_summarizer_gate(admission.model_gate()),
                admission,
                memory: Memory::new(&self.limits),
                catalog,
                limits: self.limits,
                token: self.token,
                metrics: Metrics::default(),
                failure_log: self.failure_log,
                policy: self.policy,
                has_echo: self.has_echo,
            }),
        })
    }
}

/// A server that offers compactions over HTTP, bound to its address.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    app: Arc<App>,
}

impl Server {
    /// Configures a server that runs strategies on `host`. The host should allow as many concurrent calls
    /// as the server ([`baler_host::strategy::EngineLimits::concurrent_calls`]), and count only faults that no
    /// client can cause ([`baler_host::strategy::CountedFaults::Unprovoked`]).
    #[must_use]
    pub fn builder(host: Host) -> ServerBuilder {
        ServerBuilder {
            host,
            chain: Vec::new(),
            others: Vec::new(),
            limits: ServerLimits::default(),
            token: None,
            failure_log: FailureLog::default(),
            policy: Policy::default(),
            has_echo: false,
        }
    }

    /// Returns the address on which the server listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves until `stop` completes. Then accepts no more connections and requests, and gives running
    /// requests time to end ([`ServerLimits::grace`]). After that, closes all connections.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let limits = self.app.limits;
        let router = routes::router(self.app);
        self.listener.serve(router, limits, stop).await;
    }
}
