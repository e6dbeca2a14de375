//! Plans against conversations of all formats.

mod edits;
mod order;
mod properties;
mod thinking;
