//! Failures that no strategy is to blame for.

mod archive;
mod host;

pub use archive::ArchiveError;
pub use host::HostError;
