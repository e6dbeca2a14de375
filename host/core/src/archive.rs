//! The archive of removed content, stored before the caller gets the result of a compaction (invariant I6).
//! It is the crate `baler-archive`, with a tool for models.

pub use baler_archive::{Archive, ArchiveError, Contents, OpenError, Stored, object_store};

pub use crate::retrieve::Retrieve;
