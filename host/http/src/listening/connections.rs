//! Limits the open connections, in all and for each address, and chooses the connection to close for
//! a new one.
//!
//! Keeping connections open requires no token. So at the limit, the connection that has been idle
//! longest is closed, and no client can lock out others by connecting first.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::limits::ServerLimits;

/// Time that a connection gets to close before another one is told to close.
const CLOSE_TIME: Duration = Duration::from_millis(100);

/// All open connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    permits: Arc<Semaphore>,
    max_per_address: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    by_number: BTreeMap<u64, Arc<ConnectionState>>,
}

/// The state of one connection.
#[derive(Debug)]
struct ConnectionState {
    peer: IpAddr,
    /// Number of active requests.
    requests: AtomicUsize,
    /// Part of a response is still to be written.
    is_writing: Arc<AtomicBool>,
    idle_since: Mutex<Instant>,
    /// The connection was told to close.
    is_closing: AtomicBool,
    close_signal: Notify,
}

/// An open connection. Dropping it frees its permit.
#[derive(Debug)]
pub(crate) struct Connection {
    all: Arc<Connections>,
    number: u64,
    state: Arc<ConnectionState>,
    _permit: OwnedSemaphorePermit,
}

/// An active request. Dropping it ends the request.
#[derive(Debug)]
pub(crate) struct ActiveRequest(Arc<ConnectionState>);

impl Connections {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let most = limits.connections.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(most)),
            max_per_address: limits.connections_per_address.max(1),
            open: Mutex::default(),
        }
    }

    /// Registers a connection of `peer`, as soon as the limit allows. Returns `None` if the address of
    /// `peer` has as many connections as it may have and all of them are active.
    pub(crate) async fn register(self: &Arc<Self>, peer: IpAddr) -> Option<Connection> {
        let peer = address_group(peer);
        if !self.admits_address(peer) {
            return None;
        }
        let permit = loop {
            if let Ok(permit) = self.permits.clone().try_acquire_owned() {
                break permit;
            }
            self.close_idlest();
            let freed = self.permits.clone().acquire_owned();
            if let Ok(permit) = tokio::time::timeout(CLOSE_TIME, freed).await {
                break permit.ok()?;
            }
        };
        let state = Arc::new(ConnectionState {
            peer,
            requests: AtomicUsize::new(0),
            is_writing: Arc::default(),
            idle_since: Mutex::new(Instant::now()),
            is_closing: AtomicBool::new(false),
            close_signal: Notify::new(),
        });
        let mut open = self.lock();
        let number = open.next;
        open.next += 1;
        open.by_number.insert(number, state.clone());
        drop(open);
        Some(Connection {
            all: self.clone(),
            number,
            state,
            _permit: permit,
        })
    }

    /// Tells the connection that has been idle longest to close, even below the limit.
    pub(crate) fn close_idlest(&self) {
        self.close_idlest_of(|_| true);
    }

    /// Whether this address may open one more connection. At its limit, its idlest one is closed.
    fn admits_address(&self, peer: IpAddr) -> bool {
        if peer.is_loopback() {
            return true;
        }
        let open = self
            .lock()
            .by_number
            .values()
            .filter(|state| state.peer == peer && !state.is_closing.load(Ordering::Relaxed))
            .count();
        open < self.max_per_address || self.close_idlest_of(|state| state.peer == peer)
    }

    /// Tells the connection that has been idle longest, among those that match, to close. Returns false
    /// if all of them are active.
    fn close_idlest_of(&self, matches: impl Fn(&ConnectionState) -> bool) -> bool {
        let open = self.lock();
        let idlest = open
            .by_number
            .values()
            .filter(|state| {
                matches(state) && state.is_idle() && !state.is_closing.load(Ordering::Relaxed)
            })
            .min_by_key(|state| state.idle_since());
        let Some(idlest) = idlest else {
            return false;
        };
        idlest.is_closing.store(true, Ordering::Relaxed);
        idlest.close_signal.notify_one();
        true
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Counts a request as active until the returned value is dropped.
    pub(crate) fn begin_request(&self) -> ActiveRequest {
        self.state.requests.fetch_add(1, Ordering::Relaxed);
        ActiveRequest(self.state.clone())
    }

    /// Returns the flag that says whether part of a response is still to be written.
    pub(crate) fn is_writing(&self) -> Arc<AtomicBool> {
        self.state.is_writing.clone()
    }

    /// Completes when the connection has to close for another one. A request that began in the meantime
    /// cancels the close, until the connection is told again.
    pub(crate) async fn close_requested(&self) {
        loop {
            self.state.close_signal.notified().await;
            if self.state.is_idle() {
                return;
            }
            self.state.is_closing.store(false, Ordering::Relaxed);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.lock().by_number.remove(&self.number);
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let now = Instant::now();
        *self
            .0
            .idle_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = now;
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ConnectionState {
    fn is_idle(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0 && !self.is_writing.load(Ordering::Relaxed)
    }

    fn idle_since(&self) -> Instant {
        *self
            .idle_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the addresses that count as one, as their first address. An owner of one IPv6 address has at
/// least 2^64 of them.
fn address_group(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(connections: usize, connections_per_address: usize) -> Arc<Connections> {
        Arc::new(Connections::new(&ServerLimits {
            connections,
            connections_per_address,
            ..ServerLimits::default()
        }))
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// Whether the connection has been told to close.
    async fn is_closing(connection: &Connection) -> bool {
        tokio::time::timeout(Duration::from_millis(1), connection.close_requested())
            .await
            .is_ok()
    }

    #[tokio::test]
    async fn idlest_connection_is_closed_and_active_ones_stay() {
        let (connections, home) = (connections(3, 1), address("127.0.0.1"));
        let works = connections.register(home).await.expect("below the limit");
        let _request = works.begin_request();
        let writes = connections.register(home).await.expect("below the limit");
        writes.is_writing().store(true, Ordering::Relaxed);
        let idle = connections.register(home).await.expect("below the limit");
        let next = tokio::spawn({
            let connections = connections.clone();
            async move { connections.register(home).await }
        });
        tokio::time::timeout(Duration::from_secs(60), idle.close_requested())
            .await
            .expect("is told to close");
        assert!(!is_closing(&works).await);
        assert!(!is_closing(&writes).await);
        drop(idle);
        assert!(next.await.expect("no panic").is_some());
    }

    #[tokio::test]
    async fn connection_with_the_latest_request_is_not_the_idlest() {
        let (connections, home) = (connections(2, 1), address("127.0.0.1"));
        let first = connections.register(home).await.expect("below the limit");
        let second = connections.register(home).await.expect("below the limit");
        // The clock may be coarse.
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(first.begin_request());
        assert!(connections.close_idlest_of(|_| true));
        assert!(is_closing(&second).await);
        assert!(!is_closing(&first).await);
    }

    #[tokio::test]
    async fn request_that_begins_in_time_cancels_the_close() {
        let connections = connections(1, 1);
        let connection = connections.register(address("127.0.0.1")).await;
        let connection = connection.expect("below the limit");
        assert!(connections.close_idlest_of(|_| true));
        let request = connection.begin_request();
        assert!(!is_closing(&connection).await);
        drop(request);
        assert!(!is_closing(&connection).await);
        assert!(connections.close_idlest_of(|_| true), "can be told again");
        assert!(is_closing(&connection).await);
    }

    #[tokio::test]
    async fn connections_per_address_are_limited_except_for_loopback() {
        let connections = connections(100, 2);
        for (one, same, other) in [
            ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
            ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"),
        ] {
            let first = connections
                .register(address(one))
                .await
                .expect("below the limit");
            let second = connections
                .register(address(same))
                .await
                .expect("below the limit");
            let (_one, two) = (first.begin_request(), second.begin_request());
            assert!(connections.register(address(one)).await.is_none(), "{one}");
            assert!(
                connections.register(address(other)).await.is_some(),
                "{other}"
            );
            drop(two);
            assert!(connections.register(address(one)).await.is_some(), "{one}");
            assert!(is_closing(&second).await, "was closed for another");
        }
        let mut local = Vec::new();
        for _ in 0..10 {
            local.push(
                connections
                    .register(address("::1"))
                    .await
                    .expect("below the limit"),
            );
        }
    }
}
