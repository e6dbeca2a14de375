//! Divides the file descriptors of this process between connections and work, and recognizes errors from
//! a lack of them.

use std::io;

use baler_host::Archive;

use crate::limits::ServerLimits;

/// Descriptors that a server always has open: standard streams, those of the runtime, and the connection
/// that is being accepted.
const BASE: u64 = 32;

/// Descriptors that all requests together use for the archive.
const ARCHIVE: u64 = Archive::DESCRIPTORS as u64;

/// Descriptors that an active request usually needs at most, in addition to those for the archive: one for
/// a remote strategy or a model, and the others for the lookup of its name.
const PER_REQUEST: u64 = 4;

/// Returns the number of connections that may be open at once: as many as `limits` says, or fewer if the
/// process has too few descriptors for them and for work on requests.
pub(crate) fn connections(limits: &ServerLimits) -> usize {
    connections_within(limits, descriptor_limit())
}

/// Does the same for a process that may open `most` descriptors.
fn connections_within(limits: &ServerLimits, most: u64) -> usize {
    // A quarter of them is for clients in any case.
    let for_work = reserved(limits).min(most / 4 * 3);
    let left = usize::try_from(most - for_work).unwrap_or(usize::MAX);
    limits.connections.min(left).max(1)
}

/// Returns the number of descriptors that are reserved for work.
fn reserved(limits: &ServerLimits) -> u64 {
    let requests = u64::try_from(limits.concurrency).unwrap_or(u64::MAX);
    requests
        .saturating_mul(PER_REQUEST)
        .saturating_add(BASE + ARCHIVE)
}

/// Returns the number of descriptors that this process may open.
#[cfg(unix)]
fn descriptor_limit() -> u64 {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Other systems have no such limit.
#[cfg(not(unix))]
fn descriptor_limit() -> u64 {
    u64::MAX
}

/// Raises this process's limit of open descriptors to what a server with these limits can use, as far as
/// the system's hard limit allows. Call it in programs that run a [`crate::Server`], which does not
/// change the limit itself. If the limit stays too low, the server accepts fewer connections.
pub fn raise_descriptor_limit(limits: &ServerLimits) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let connections = u64::try_from(limits.connections).unwrap_or(u64::MAX);
        let wanted = reserved(limits).saturating_add(connections);
        let now = getrlimit(Resource::Nofile);
        let wanted = now.maximum.map_or(wanted, |most| most.min(wanted));
        if now.current.is_some_and(|current| current < wanted) {
            let raised = Rlimit {
                current: Some(wanted),
                maximum: now.maximum,
            };
            // If this fails, `connections` adapts to the current limit.
            let _ = setrlimit(Resource::Nofile, raised);
        }
    }
    #[cfg(not(unix))]
    let _ = limits;
}

/// Whether an error comes from a lack of resources of this process or machine, not from the peer.
pub(crate) fn is_resource_exhaustion(error: &io::Error) -> bool {
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
    fn connections_leave_descriptors_for_work() {
        let limits = ServerLimits {
            connections: 1_024,
            concurrency: 4,
            ..ServerLimits::default()
        };
        // Reserved: 32, 32 for the archive, and 4 for each of 4 requests, which makes 80.
        for (most, connections) in [
            (u64::MAX, 1_024),
            (1_104, 1_024),
            (1_103, 1_023),
            (64, 16),
            (8, 2),
            (0, 1),
        ] {
            assert_eq!(connections_within(&limits, most), connections, "{most}");
        }
        let busy = ServerLimits {
            concurrency: 1_000,
            ..limits
        };
        // It would reserve 4,064, but gets three quarters of all.
        assert_eq!(connections_within(&busy, 1_024), 256);
    }
}
