//! Archives of what a compaction removes: units that can be retrieved one by one, and a record for each compaction
//! that restores its document byte for byte. An archive is in a folder, in memory, or in an object store.
//!
//! ```
//! use baler_archive::Archive;
//! use baler_conversation::{Reader, SecretKey};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let body = r#"{"messages": [{"role": "user", "content": "Which moth is this?"}, {"role": "assistant", "content": "A garden tiger."}]}"#;
//! let conversation = Reader::new(SecretKey::random()?).read(body)?;
//! let archive = Archive::in_memory();                          // or `Archive::open(folder)`, `Archive::at(url, options)`
//! let stored = archive.store(&conversation, [1]).await?;       // before unit 1 is removed
//! let (unit, reference) = &stored.units[0];
//! assert_eq!((*unit, archive.text(reference).await?.contains("garden tiger")), (1, true));
//! assert_eq!(archive.undo(&stored.undo).await?, body);
//! # Ok(()) }
//! ```

mod archive;
mod backend;
mod clearing;
#[cfg(feature = "cloud")]
mod cloud;
mod error;
mod folder;
mod layout;
mod location;
mod objects;
mod reference;
mod render;
mod slots;
mod store;
mod undo;

pub use archive::Archive;
pub use clearing::Contents;
pub use error::{ArchiveError, OpenError};
/// The crate whose stores [`Archive::on`] accepts.
pub use object_store;
pub use reference::reference;
pub use store::Stored;

pub(crate) use archive::{CONCURRENCY, Kind};
