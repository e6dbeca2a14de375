//! Descriptors: how many this process may have open, how many of them connections of clients may
//! take, and errors that say there are none left.

use std::io;

use baler_host::Archive;

use crate::server::ServerLimits;

/// Descriptors that a server has open whatever it does: standard streams, the runtime's and what
/// is being accepted.
const OWN: u64 = 32;

/// Those that all requests together take for the archive.
const ARCHIVE: u64 = Archive::DESCRIPTORS as u64;

/// Descriptors that a request in work takes at most, as a rule, beside those for the archive: one
/// to a remote strategy or a model, and the others for looking up its name.
const PER_REQUEST: u64 = 4;

/// Connections that clients may have open at once: as many as `limits` say, or fewer where this
/// process may have so few descriptors that work on requests would find none.
pub(crate) fn connections(limits: &ServerLimits) -> usize {
    within(limits, most_open())
}

/// The same where the process may have `most` descriptors open.
fn within(limits: &ServerLimits, most: u64) -> usize {
    // However few there are, some are for clients.
    let kept = reserve(limits).min(most / 4 * 3);
    let left = usize::try_from(most - kept).unwrap_or(usize::MAX);
    limits.connections.min(left).max(1)
}

fn reserve(limits: &ServerLimits) -> u64 {
    let requests = u64::try_from(limits.concurrency).unwrap_or(u64::MAX);
    requests
        .saturating_mul(PER_REQUEST)
        .saturating_add(OWN + ARCHIVE)
}

/// Descriptors that this process may have open.
#[cfg(unix)]
fn most_open() -> u64 {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// The system has no such limit.
#[cfg(not(unix))]
fn most_open() -> u64 {
    u64::MAX
}

/// Lets this process have as many descriptors open as a server with these limits can use, as far
/// as the system allows it to change that by itself. For programs that run a [`crate::Server`],
/// which changes nothing of its process. Where it is not allowed, the server has fewer
/// connections open at once.
pub fn allow_descriptors(limits: &ServerLimits) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let connections = u64::try_from(limits.connections).unwrap_or(u64::MAX);
        let wanted = reserve(limits).saturating_add(connections);
        let now = getrlimit(Resource::Nofile);
        let wanted = now.maximum.map_or(wanted, |most| most.min(wanted));
        if now.current.is_some_and(|current| current < wanted) {
            let raised = Rlimit {
                current: Some(wanted),
                maximum: now.maximum,
            };
            // Where it is refused, `connections` goes by what there is.
            let _ = setrlimit(Resource::Nofile, raised);
        }
    }
    #[cfg(not(unix))]
    let _ = limits;
}

/// Whether an error says that this process or machine lacks something, and nothing of whoever is
/// at the other end.
pub(crate) fn is_out_of_room(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        matches!(
            Errno::from_io_error(error),
            Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS | Errno::ADDRNOTAVAIL)
        )
    }
    #[cfg(not(unix))]
    {
        matches!(
            error.kind(),
            io::ErrorKind::OutOfMemory | io::ErrorKind::AddrNotAvailable
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_take_no_descriptors_that_work_needs() {
        let limits = ServerLimits {
            connections: 1_024,
            concurrency: 4,
            ..ServerLimits::default()
        };
        // 32, 32 for the archive, and 4 for each of 4 requests are kept: 80.
        for (most, connections) in [
            (u64::MAX, 1_024),
            (1_104, 1_024),
            (1_103, 1_023),
            (64, 16),
            (8, 2),
            (0, 1),
        ] {
            assert_eq!(within(&limits, most), connections, "{most}");
        }
        let busy = ServerLimits {
            concurrency: 1_000,
            ..limits
        };
        // Of 4,064 that it would keep, three quarters of all.
        assert_eq!(within(&busy, 1_024), 256);
    }
}
