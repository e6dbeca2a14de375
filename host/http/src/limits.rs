//! The limits of a server. Each has a default, and none can be switched off.

use std::time::Duration;

/// The limits of a server.
///
/// Make one with `ServerLimits { body_bytes: 1 << 20, ..ServerLimits::default() }`. Later versions may
/// add fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// Bytes of a request's body. Default: 32 MiB.
    pub body_bytes: usize,
    /// Bytes of all bodies that arrive, wait or are worked on, and of all responses that clients have not
    /// received yet. An eighth is reserved for those of 1 MiB or less, as far as the largest body
    /// permits. Default: 512 MiB.
    pub buffered_bytes: usize,
    /// Bytes of memory that all work at once may need, as estimated beforehand: 8 for each byte of a body,
    /// and 512 for each list, object and comma in it; three times that if it is to be repaired. A body
    /// that alone needs more is refused. A request that needs a 64th or less is small; an eighth as much
    /// memory exists in addition for small requests only. Default: 2 GiB.
    pub working_bytes: usize,
    /// Requests that are worked on at once. If there is more than one slot, a quarter of them is reserved
    /// for small requests. The runtime has to allow at least twice as many blocking threads. Default:
    /// twice the cores, at least 4.
    pub concurrency: usize,
    /// Requests that wait for a slot. Default: 256.
    pub waiting: usize,
    /// Time of a request from the arrival of its whole body, including waiting. Default: 60 s.
    pub request_time: Duration,
    /// Time for the head of a request, and of an idle connection. Default: 10 s.
    pub head_time: Duration,
    /// Time for the body of a request. Default: 30 s.
    pub read_time: Duration,
    /// Time within which a client has to send 64 KiB more of a body, or the rest of it. Default: 5 s.
    pub read_stall: Duration,
    /// Time within which a client has to receive some more bytes of its response. Then its connection is
    /// closed. Default: 10 s.
    pub write_stall: Duration,
    /// Time within which a client has to receive its whole response. Then its connection is closed.
    /// Default: 60 s.
    pub write_time: Duration,
    /// Connections that are open at once. For one more, the one that has been idle longest is closed.
    /// There are fewer if the process may open only few descriptors: 64, and 4 for each of
    /// [`Self::concurrency`], are reserved for work, up to three quarters of all. See
    /// [`crate::raise_descriptor_limit`]. Default: 1,024.
    pub connections: usize,
    /// Of these, connections from one address (IPv6: one /64). Loopback addresses have no such limit.
    /// Default: 256.
    pub connections_per_address: usize,
    /// Levels of nested lists and objects in a body, and in a conversation that is a text (of a session
    /// log: in each line). Default: 100.
    pub nesting: usize,
    /// Strategies of a chain that a client names; at most 256. Default: 8.
    pub chain: usize,
    /// Time for running requests after the server is told to stop. Then all connections are closed.
    /// Default: 20 s.
    pub grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            body_bytes: 32 << 20,
            buffered_bytes: 512 << 20,
            working_bytes: 2 << 30,
            // A strategy that loops uses a core for its whole time limit; the others continue.
            concurrency: (cores * 2).max(4),
            waiting: 256,
            request_time: Duration::from_secs(60),
            head_time: Duration::from_secs(10),
            read_time: Duration::from_secs(30),
            read_stall: Duration::from_secs(5),
            write_stall: Duration::from_secs(10),
            write_time: Duration::from_secs(60),
            connections: 1_024,
            connections_per_address: 256,
            nesting: 100,
            chain: 8,
            grace: Duration::from_secs(20),
        }
    }
}
