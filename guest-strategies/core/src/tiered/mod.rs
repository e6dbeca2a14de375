//! Reduces a conversation only as far as the budget requires, in tiers. What is least likely to be needed
//! goes first:
//!
//! 1. pictures, if they may be removed;
//! 2. outputs that a later output makes needless;
//! 3. old outputs, cut to errors and names;
//! 4. thinking, if it may be removed and that is enough;
//! 5. old steps, replaced by one text: a digest, below a model's summary if the caller provides one.
//!
//! The newest steps, the newest user message, instructions and pending calls stay unchanged as long as the
//! budget allows.

mod choice;
mod config;
mod material;
mod reduce;
mod strategy;
#[cfg(test)]
mod tests;

pub use baler_digest::{Story, without_lists};
pub use choice::{Chosen, RemovedUnits, Summarise, choose};
pub use config::Config;
pub use strategy::Tiered;
