//! Open connections: how many there may be, how many of one address, and which one makes room
//! for the next.
//!
//! Who keeps connections open needs no token. So where all are taken, the one that has had
//! nothing to do for longest is closed, and nobody shuts the others out by being there first.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::ServerLimits;

/// How long one that is to close may take before another is told.
const CLOSING: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Seats {
    room: Arc<Semaphore>,
    most_of_one: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    seats: BTreeMap<u64, Arc<State>>,
}

/// What is known of a connection.
#[derive(Debug)]
struct State {
    peer: IpAddr,
    /// Requests in work.
    requests: AtomicUsize,
    /// Some of an answer is still to be written.
    is_writing: Arc<AtomicBool>,
    idle_since: Mutex<Instant>,
    /// It was told to close.
    is_told: AtomicBool,
    told: Notify,
}

/// A connection's place, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    all: Arc<Seats>,
    number: u64,
    state: Arc<State>,
    _permit: OwnedSemaphorePermit,
}

/// A request in work.
#[derive(Debug)]
pub(crate) struct InWork(Arc<State>);

impl Seats {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let most = limits.connections.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            room: Arc::new(Semaphore::new(most)),
            most_of_one: limits.connections_per_address.max(1),
            taken: Mutex::default(),
        }
    }

    /// A place for a connection of `peer`, as soon as there is one; none where that has as many
    /// as one address may have, and all of them are at work.
    pub(crate) async fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Seat> {
        let peer = network(peer);
        if !self.has_room_for(peer) {
            return None;
        }
        let permit = loop {
            if let Ok(permit) = self.room.clone().try_acquire_owned() {
                break permit;
            }
            self.close_idlest(|_| true);
            let freed = self.room.clone().acquire_owned();
            if let Ok(permit) = tokio::time::timeout(CLOSING, freed).await {
                break permit.ok()?;
            }
        };
        let state = Arc::new(State {
            peer,
            requests: AtomicUsize::new(0),
            is_writing: Arc::default(),
            idle_since: Mutex::new(Instant::now()),
            is_told: AtomicBool::new(false),
            told: Notify::new(),
        });
        let mut taken = self.lock();
        let number = taken.next;
        taken.next += 1;
        taken.seats.insert(number, state.clone());
        drop(taken);
        Some(Seat {
            all: self.clone(),
            number,
            state,
            _permit: permit,
        })
    }

    /// Tells the connection that has had nothing to do for longest to close, whatever room there
    /// is.
    pub(crate) fn close_one(&self) {
        self.close_idlest(|_| true);
    }

    /// Whether one more of this address may be open, where need be instead of its idlest.
    fn has_room_for(&self, peer: IpAddr) -> bool {
        if peer.is_loopback() {
            return true;
        }
        let open = self
            .lock()
            .seats
            .values()
            .filter(|state| state.peer == peer && !state.is_told.load(Ordering::Relaxed))
            .count();
        open < self.most_of_one || self.close_idlest(|state| state.peer == peer)
    }

    /// Tells the connection that has had nothing to do for longest to close; false where all are
    /// at work.
    fn close_idlest(&self, is_meant: impl Fn(&State) -> bool) -> bool {
        let taken = self.lock();
        let idlest = taken
            .seats
            .values()
            .filter(|state| {
                is_meant(state) && state.is_idle() && !state.is_told.load(Ordering::Relaxed)
            })
            .min_by_key(|state| state.idle_since());
        let Some(idlest) = idlest else {
            return false;
        };
        idlest.is_told.store(true, Ordering::Relaxed);
        idlest.told.notify_one();
        true
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Counts a request as in work until what this gives is dropped.
    pub(crate) fn begin(&self) -> InWork {
        self.state.requests.fetch_add(1, Ordering::Relaxed);
        InWork(self.state.clone())
    }

    /// Where to tell that some of an answer is still to be written.
    pub(crate) fn is_writing(&self) -> Arc<AtomicBool> {
        self.state.is_writing.clone()
    }

    /// Done when the connection is to close, to make room. Not before what began in the meantime
    /// has ended, and then only where it is told once more.
    pub(crate) async fn closes(&self) {
        loop {
            self.state.told.notified().await;
            if self.state.is_idle() {
                return;
            }
            self.state.is_told.store(false, Ordering::Relaxed);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.all.lock().seats.remove(&self.number);
    }
}

impl Drop for InWork {
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

impl State {
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

/// What counts as one address. Who has one of version 6 has at least 2^64 of them.
fn network(peer: IpAddr) -> IpAddr {
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

    fn seats(connections: usize, connections_per_address: usize) -> Arc<Seats> {
        Arc::new(Seats::new(&ServerLimits {
            connections,
            connections_per_address,
            ..ServerLimits::default()
        }))
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// Whether it was told to close by now.
    async fn is_closing(seat: &Seat) -> bool {
        tokio::time::timeout(Duration::from_millis(1), seat.closes())
            .await
            .is_ok()
    }

    #[tokio::test]
    async fn the_idlest_connection_makes_room_and_none_that_is_at_work() {
        let (seats, home) = (seats(3, 1), address("127.0.0.1"));
        let works = seats.take(home).await.expect("there is room");
        let _request = works.begin();
        let writes = seats.take(home).await.expect("there is room");
        writes.is_writing().store(true, Ordering::Relaxed);
        let idle = seats.take(home).await.expect("there is room");
        let next = tokio::spawn({
            let seats = seats.clone();
            async move { seats.take(home).await }
        });
        tokio::time::timeout(Duration::from_secs(60), idle.closes())
            .await
            .expect("it is told to");
        assert!(!is_closing(&works).await);
        assert!(!is_closing(&writes).await);
        drop(idle);
        assert!(next.await.expect("no panic").is_some());
    }

    #[tokio::test]
    async fn what_had_something_to_do_last_is_not_the_idlest() {
        let (seats, home) = (seats(2, 1), address("127.0.0.1"));
        let first = seats.take(home).await.expect("there is room");
        let second = seats.take(home).await.expect("there is room");
        // Clocks may be coarse.
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(first.begin());
        assert!(seats.close_idlest(|_| true));
        assert!(is_closing(&second).await);
        assert!(!is_closing(&first).await);
    }

    #[tokio::test]
    async fn a_request_that_begins_just_then_is_not_cut_off() {
        let seats = seats(1, 1);
        let seat = seats.take(address("127.0.0.1")).await;
        let seat = seat.expect("there is room");
        assert!(seats.close_idlest(|_| true));
        let request = seat.begin();
        assert!(!is_closing(&seat).await);
        drop(request);
        assert!(!is_closing(&seat).await);
        assert!(seats.close_idlest(|_| true), "it can be told again");
        assert!(is_closing(&seat).await);
    }

    #[tokio::test]
    async fn one_address_has_so_many_and_this_machine_as_many_as_there_are() {
        let seats = seats(100, 2);
        for (one, same, other) in [
            ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
            ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"),
        ] {
            let first = seats.take(address(one)).await.expect("there is room");
            let second = seats.take(address(same)).await.expect("there is room");
            let (_one, two) = (first.begin(), second.begin());
            assert!(seats.take(address(one)).await.is_none(), "{one}");
            assert!(seats.take(address(other)).await.is_some(), "{other}");
            drop(two);
            assert!(seats.take(address(one)).await.is_some(), "{one}");
            assert!(is_closing(&second).await, "it made room");
        }
        let mut local = Vec::new();
        for _ in 0..10 {
            local.push(seats.take(address("::1")).await.expect("there is room"));
        }
    }
}
