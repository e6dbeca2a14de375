//! Failures that no strategy is to blame for.

mod archive;
mod host;

pub use archive::ArchiveError;
pub use host::HostError;

use std::error::Error;

/// What led to an error, of a library that its users need not know.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// An error and all that led to it, as one text.
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
