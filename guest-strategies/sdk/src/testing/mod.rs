//! Tests strategies natively: a conversation written for the test, a run of the strategy, and a check of its
//! plan by the rules of the contract.
//!
//! ```
//! use baler_strategy::testing::{Recording, call, failed};
//!
//! let recording = Recording::new()
//!     .system("You are a careful engineer.")
//!     .user("Fix the build.")
//!     .step("I look first.", [call("read_file", r#"{"path":"main.rs"}"#, "fn main() {}")])
//!     .step("", [failed("cargo", "build", "error: expected `;`")])
//!     .pin();
//! let situation = recording.situation(1000);
//! assert!(situation.floor < situation.used);
//! ```

#![allow(
    clippy::cast_possible_truncation,
    clippy::panic,
    reason = "for tests: sizes are small, and an error should fail the test at once"
)]

mod behind;
mod recording;
mod call;
mod content;
mod check;
mod model;
mod run;

pub use call::{Call, call, failed, pending};
pub use check::violation;
pub use model::ScriptedModel;
pub use recording::Recording;
pub use run::{TestRun, run, run_filter};

/// Counts tokens in tests: one for every four bytes of `text`, rounded up.
pub fn count(text: &str) -> u32 {
    text.len().div_ceil(4) as u32
}
