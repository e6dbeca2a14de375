//! Reduces a conversation only as far as the budget asks, what is least likely to be needed
//! first: pictures that may go, outputs that a later one makes needless, then what old outputs hold beside errors and
//! names, then thinking that may go, then old steps, which one text stands for: a
//! digest, below a summary where somebody writes one.
//!
//! The newest steps, the user's newest message, instructions and pending work stay word for
//! word as long as there is any room for them.

mod choice;
mod config;
mod material;
mod reduce;

pub use baler_digest::{Story, to_retell};
pub use choice::{Chosen, RemovedUnits, Summarise, choose};
pub use config::{Config, Work};
