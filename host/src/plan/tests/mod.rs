//! Plans against conversations of all formats.

mod edits;
mod excerpts;
mod order;
mod properties;
mod thinking;
mod user_texts;
