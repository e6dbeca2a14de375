//! Failures of the host, the machine and archives.

mod archive;
mod host;

pub use archive::ArchiveError;
pub use host::HostError;

use std::error::Error;

/// The cause of an error, of a type that is not part of the public API.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// Returns the message of an error and of all its causes, as one text.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
