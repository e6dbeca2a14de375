//! Recorded conversations, for tests and measurements.
//!
//! The conversations are not part of the repository. The environment variable `BALER_CORPUS` names their
//! folder. If there is no such folder, [`conversations`] returns `None`, and tests that need conversations
//! report this and pass.
//!
//! Files that cannot be read are left out. Each test prints how much it checked.

pub mod every_cut;
mod messages;
mod model;
pub mod recorded;
pub mod sound;

pub use baler_eval::corpus::{Corpus, Recording, RecordingKind};
pub use model::Parrot;

use std::path::{Path, PathBuf};

/// Returns the folder that `BALER_CORPUS` names; the default is `../shared/data`, relative to the workspace.
#[must_use]
pub fn folder() -> PathBuf {
    std::env::var_os("BALER_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    )
}

/// Returns all conversations of [`folder`], ordered by path; `None` if there is no such folder.
#[must_use]
pub fn conversations() -> Option<Vec<Recording>> {
    Corpus::read(&folder()).map(|corpus| corpus.conversations)
}
