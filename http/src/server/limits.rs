//! Limits of a server. None is optional, and each has a default.

use std::time::Duration;

/// What a server takes upon itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Bytes of all bodies together that are being read, wait or are worked on, and of all answers
    /// that clients have not taken yet. An eighth is for those of 1 MiB or less alone, as far as the
    /// largest body leaves it.
    pub buffered_bytes: usize,
    /// Bytes of memory that all work at once may take, as it is reckoned beforehand: 8 for each
    /// byte of a body, and 512 for each list, object and comma in it; three times that where it is
    /// to be repaired. A body that alone takes more is refused. What takes a 64th of it or less is
    /// small, and an eighth as much is there for small requests alone, beside this.
    pub working_bytes: usize,
    /// Requests that are worked on at once. A quarter of these turns, where there is more than one,
    /// only small requests get. The runtime has to allow at least twice as many
    /// blocking threads.
    pub concurrency: usize,
    /// Requests that wait for that.
    pub waiting: usize,
    /// Time of a request, from when its body is there, waiting included.
    pub request_time: Duration,
    /// Time for the head of a request, and an idle connection.
    pub head_time: Duration,
    /// Time for the body of a request.
    pub read_time: Duration,
    /// Time within which a client has to send 64 KiB more of a body, or the rest of it.
    pub read_stall: Duration,
    /// Time within which a client has to take some more bytes of its answer. Then its connection
    /// is closed.
    pub write_stall: Duration,
    /// Time within which a client has to take its answer as a whole. Then its connection is
    /// closed.
    pub write_time: Duration,
    /// Connections that are open at once. For one more, the idlest is closed. There are fewer where
    /// the process may have few descriptors open: 64, and 4 for each request that is worked on at
    /// once, are kept for work, up to three quarters of all. See [`crate::allow_descriptors`].
    pub connections: usize,
    /// Of these, those of one address (of version 6, of one /64); addresses of this machine have
    /// as many as there are.
    pub connections_per_address: usize,
    /// Levels of lists and objects in a body, and in a text that is its conversation: in each line of a session log.
    pub nesting: usize,
    /// Strategies of a chain that a client names; 256 at most.
    pub chain: usize,
    /// Time for what runs when the server is told to stop. Then all connections are closed.
    pub grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            body_bytes: 32 << 20,
            buffered_bytes: 512 << 20,
            working_bytes: 2 << 30,
            // A strategy that loops takes a core for its whole time; the others go on.
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
