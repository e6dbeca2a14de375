//! Recorded conversations, for tests and measurements.
//!
//! They are no part of the repository: they are read from a folder, which the environment
//! variable `BALER_CORPUS` names. Where there is none, [`conversations`] gives none, and a test
//! that needs them says so and passes.
//!
//! A file that cannot be read counts as none: what is there is measured, and how much that
//! was, each measurement says.

pub mod every_cut;
mod messages;
mod model;
pub mod sound;

pub use baler_eval::corpus::{Corpus, Kind, Recorded};
pub use model::Parrot;

use std::path::{Path, PathBuf};

/// The folder that `BALER_CORPUS` names; without it `../shared/data`, seen from the workspace.
#[must_use]
pub fn folder() -> PathBuf {
    std::env::var_os("BALER_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    )
}

/// All conversations of [`folder`], in the same order each time. None where it is not there.
#[must_use]
pub fn conversations() -> Option<Vec<Recorded>> {
    Corpus::read(&folder()).map(|corpus| corpus.conversations)
}
