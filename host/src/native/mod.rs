//! Strategies that run in the host itself: trusted code for when no guest may or can decide.

mod digest;
mod room;
mod summarize;
mod truncate;

pub(crate) use digest::digest;
pub(crate) use summarize::summarize;
pub(crate) use truncate::truncate;
