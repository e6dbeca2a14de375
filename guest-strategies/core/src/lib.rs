//! The strategies of baler that run in two places: as components, and natively in the host, which falls back to them.
//!
//! A guest crate exports each of them ([`baler_strategy::export!`]). Beside them stands what strategies of baler have in
//! common: [`tiered`] decides how far a conversation is reduced, [`summary`] asks a model for a summary.

pub mod summarize;
pub mod summary;
pub mod tiered;

pub use summarize::Summarize;
pub use tiered::Tiered;
