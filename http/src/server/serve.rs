//! Listening, serving and stopping.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use baler_host::{Host, Strategy};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::admission::Admission;
use super::catalog::Catalog;
use super::memory::Memory;
use super::metrics::Metrics;
use super::seats::Seats;
use super::troubles::Troubles;
use super::write_timeout::WriteTimeout;
use super::{App, ServerLimits, routes};
use crate::descriptors::{self, is_out_of_room};
use crate::token::Token;

/// A server cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Others could reach it, and it would serve them.
    #[error(
        "`{address}` can be reached from other machines, and there is no token that they would have to show: give one, or listen on 127.0.0.1"
    )]
    NeedsToken {
        /// The address.
        address: SocketAddr,
    },
    /// It cannot listen there.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
}

/// Makes a [`Server`].
#[derive(Debug)]
pub struct ServerBuilder {
    host: Host,
    chain: Vec<Strategy>,
    others: Vec<Strategy>,
    limits: ServerLimits,
    token: Option<Token>,
    troubles: Troubles,
    has_echo: bool,
}

impl ServerBuilder {
    /// The chain of who names no strategy, which is also what other hosts get. Of two that have one
    /// name, clients can name the first. Default: `native:digest`.
    #[must_use]
    pub fn chain(mut self, chain: Vec<Strategy>) -> Self {
        self.chain = chain;
        self
    }

    /// Strategies that clients can name beside those of the chain and the host's own.
    #[must_use]
    pub fn offers(mut self, strategies: Vec<Strategy>) -> Self {
        self.others = strategies;
        self
    }

    /// Limits. Default: [`ServerLimits::default`].
    #[must_use]
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The token that clients have to show. Without one only this machine is served.
    #[must_use]
    pub fn token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Who is told why requests failed in the server itself, as lines of text: the code, and what the
    /// system or a store said, but no word of a conversation. A line comes at most once a second, and
    /// counts those that were left out. Default: nobody.
    #[must_use]
    pub fn on_trouble(mut self, tell: impl Fn(&str) + Send + 'static) -> Self {
        self.troubles = Troubles::told_to(tell);
        self
    }

    /// Also serves `POST /v1/echo`, which gives the body back after the same checks: to measure
    /// what a server without any work to do would take.
    #[must_use]
    pub fn with_echo(mut self) -> Self {
        self.has_echo = true;
        self
    }

    /// Takes the address. Port 0 takes any that is free: see [`Server::address`].
    ///
    /// # Errors
    /// The address is taken, or can be reached from other machines and there is no token.
    pub async fn bind(self, address: SocketAddr) -> Result<Server, ServerError> {
        if self.token.is_none() && !address.ip().is_loopback() {
            return Err(ServerError::NeedsToken { address });
        }
        let failed = |source| ServerError::Listen { address, source };
        let listener = listen(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let catalog = Catalog::new(self.chain, self.others);
        let admission = Admission::new(self.limits, catalog.known());
        Ok(Server {
            listener,
            address,
            app: Arc::new(App {
                host: self.host.with_summarizer_gate(admission.gate_to_model()),
                admission,
                memory: Memory::new(&self.limits),
                catalog,
                limits: self.limits,
                token: self.token,
                metrics: Metrics::default(),
                troubles: self.troubles,
                has_echo: self.has_echo,
            }),
        })
    }
}

/// Serves compactions over HTTP.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
}

impl Server {
    /// A server of the strategies of `host`, which should have room for as many calls at once
    /// as the server takes ([`baler_host::EngineLimits::concurrent_calls`]), and count only faults
    /// that no client can cause ([`baler_host::CountedFaults::Unprovoked`]).
    #[must_use]
    pub fn builder(host: Host) -> ServerBuilder {
        ServerBuilder {
            host,
            chain: Vec::new(),
            others: Vec::new(),
            limits: ServerLimits::default(),
            token: None,
            troubles: Troubles::default(),
            has_echo: false,
        }
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is done; then takes no more connections and requests, and gives what
    /// runs its time to end ([`ServerLimits::grace`]). After that it closes all connections,
    /// whatever their clients do.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let Self { listener, app, .. } = self;
        let limits = app.limits;
        let seats = Arc::new(Seats::new(&ServerLimits {
            connections: descriptors::connections(&limits),
            ..limits
        }));
        let router = routes::router(app);
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                Some(_) = connections.join_next() => continue,
                accepted = accept(&listener, &seats) => accepted,
            };
            let Some((stream, peer)) = accepted else {
                continue;
            };
            let seat = tokio::select! {
                biased;
                () = &mut stop => break,
                seat = seats.take(peer.ip()) => seat,
            };
            let Some(seat) = seat.map(Arc::new) else {
                tracing::debug!("a connection was closed: its address has as many as it may have");
                continue;
            };
            let stream = WriteTimeout::new(
                stream,
                limits.write_stall,
                limits.write_time,
                discard_unsent,
            )
            .telling(seat.is_writing());
            let router = TowerToHyperService::new(router.clone());
            let own = seat.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let in_work = own.begin();
                let answer = router.call(request);
                async move {
                    let answer = answer.await;
                    drop(in_work);
                    answer
                }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.head_time)
                .max_buf_size(64 << 10)
                .serve_connection(TokioIo::new(stream), service);
            let connection = graceful.watch(connection);
            connections.spawn(async move {
                tokio::select! {
                    biased;
                    // How a client ends its connection is its own business.
                    _ = connection => {}
                    () = seat.closes() => {}
                }
            });
        }
        drop(listener);
        if tokio::time::timeout(limits.grace, graceful.shutdown())
            .await
            .is_err()
        {
            tracing::warn!("requests were broken off: they were not done within the grace period");
            connections.shutdown().await;
        }
    }
}

/// Makes closing the connection discard what its client did not take: the system would keep it,
/// and go on offering it for minutes.
fn discard_unsent(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}

/// Connections that may wait to be accepted. Where the queue is full, a client tries again after
/// a whole second.
const QUEUE: u32 = 1_024;

/// Bytes of an answer that the system may hold for a connection. By default that is megabytes,
/// which no limit of the server counts, and which hide for long whether the client takes any.
const SEND_BUFFER: u32 = 256 << 10;

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // On Windows that would let another program take the address over.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(QUEUE)
}

/// How long nothing is accepted after it failed. It is less where a connection ends meanwhile.
const PAUSE: Duration = Duration::from_millis(50);

/// The next connection, and who is at its other end.
async fn accept(listener: &TcpListener, seats: &Seats) -> Option<(TcpStream, SocketAddr)> {
    match listener.accept().await {
        Ok((stream, peer)) => {
            let _ = stream.set_nodelay(true);
            Some((stream, peer))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            // Work on requests finds no descriptor then, either.
            if is_out_of_room(&error) {
                seats.close_one();
            }
            tokio::time::sleep(PAUSE).await;
            None
        }
    }
}
