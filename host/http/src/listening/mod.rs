//! Listens on an address, and serves connections within limits until a future completes.

mod connections;
mod write_timeout;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Response;
use http_body_util::BodyExt as _;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::descriptors::{self, is_resource_exhaustion};
use crate::limits::ServerLimits;
use crate::server::ServerError;
use crate::token::Token;
use connections::Connections;
use write_timeout::WriteTimeout;

/// An address that was bound, for a service of your own within the limits of a server.
// For other crates of baler: its router is of an engine that may change.
#[doc(hidden)]
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds an address, for clients that show `token` if there is one. Port 0 selects a free port. Runs in a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be bound, or can be reached from other machines and no token is set.
    pub fn bind(address: SocketAddr, token: Option<&Token>) -> Result<Self, ServerError> {
        if token.is_none() && !address.ip().is_loopback() {
            return Err(ServerError::NeedsToken { address });
        }
        let failed = |source| ServerError::Listen { address, source };
        let listener = listen(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Returns the address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` completes. Then accepts no more connections and requests, and gives running
    /// requests time to end ([`ServerLimits::grace`]). After that, closes all connections. Of the limits, those of
    /// connections, heads and writes count; the others are the router's.
    pub async fn serve(self, router: Router, limits: ServerLimits, stop: impl Future<Output = ()>) {
        let listener = self.listener;
        let open = Arc::new(Connections::new(&ServerLimits {
            connections: descriptors::connections(&limits),
            ..limits
        }));
        let graceful = GracefulShutdown::new();
        let mut tasks = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                Some(_) = tasks.join_next() => continue,
                accepted = accept(&listener, &open) => accepted,
            };
            let Some((stream, peer)) = accepted else {
                continue;
            };
            let connection = tokio::select! {
                biased;
                () = &mut stop => break,
                connection = open.register(peer.ip()) => connection,
            };
            let Some(connection) = connection.map(Arc::new) else {
                tracing::debug!("closed a connection: its address has reached its limit");
                continue;
            };
            let stream = WriteTimeout::new(
                stream,
                limits.write_stall,
                limits.write_time,
                discard_unsent,
            )
            .reporting_to(connection.is_writing());
            let router = TowerToHyperService::new(router.clone());
            let state = connection.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let active = state.begin_request();
                let response = router.call(request);
                async move {
                    // A connection whose response waits for its next piece is not idle.
                    response.await.map(|response: Response<Body>| {
                        response.map(|body| {
                            Body::new(body.map_frame(move |frame| {
                                let _active = &active;
                                frame
                            }))
                        })
                    })
                }
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.head_time)
                .max_buf_size(64 << 10)
                .serve_connection(TokioIo::new(stream), service);
            let served = graceful.watch(served);
            tasks.spawn(async move {
                tokio::select! {
                    biased;
                    // It does not matter how a client ends its connection.
                    _ = served => {}
                    () = connection.close_requested() => {}
                }
            });
        }
        drop(listener);
        if tokio::time::timeout(limits.grace, graceful.shutdown())
            .await
            .is_err()
        {
            tracing::warn!("aborted requests that did not end within the grace period");
            tasks.shutdown().await;
        }
    }
}

/// Makes the system discard unsent bytes when the connection closes. Otherwise it would keep and
/// retransmit them for minutes.
fn discard_unsent(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}

/// Connections that may wait to be accepted. If the queue is full, clients retry after a whole second.
const BACKLOG: u32 = 1_024;

/// Bytes of a response that the system may buffer for a connection. The default is megabytes, which no
/// limit of the server counts, and which delay the detection of clients that do not read.
const SEND_BUFFER: u32 = 256 << 10;

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // On Windows this would let another program take over the address.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit this size.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Pause after a failed accept. It ends early if a connection ends meanwhile.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts the next connection and returns it with the client's address; `None` after a failure.
async fn accept(
    listener: &TcpListener,
    connections: &Connections,
) -> Option<(TcpStream, SocketAddr)> {
    match listener.accept().await {
        Ok((stream, peer)) => {
            let _ = stream.set_nodelay(true);
            Some((stream, peer))
        }
        Err(error) => {
            tracing::warn!(%error, "cannot accept a connection");
            // Requests that need a descriptor would fail too.
            if is_resource_exhaustion(&error) {
                connections.close_idlest();
            }
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}
