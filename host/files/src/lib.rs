//! Files and folders of one user: never half-written, never open to others, and cleared after a killed run.

mod error;
mod private;
mod regular;
pub mod staged;

pub use error::FileError;
pub use private::{check_owned, check_private, private_folder};
pub use regular::{Links, open_regular, read_within, sync_folder};
