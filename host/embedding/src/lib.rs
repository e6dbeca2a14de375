//! One layer for all bindings: what programs in other languages hold of baler.
//!
//! Options come in and results go out as JSON, so that an option exists in every language or in none
//! ([`options::TABLE`]). What stays in Rust is held by handles: [`Host`], [`Strategy`], [`Conversation`], [`Compaction`],
//! [`Compactor`], [`Window`]. Work runs in a [`Call`] of its own, which can be waited for and cancelled from any thread.
//! What the host has to ask a function of the caller arrives as a [`Question`]; a binding whose language takes no calls
//! from foreign threads fetches questions from an [`Inbox`].
//!
//! In WebAssembly there are no threads: of this layer only options, conversations and results are there.

mod compaction;
mod conversation;
mod error;
pub mod options;
#[cfg(not(target_family = "wasm"))]
mod threads;

pub use compaction::{Compaction, MessageOfResult};
pub use conversation::Conversation;
pub use error::{Error, Kind, Remedy};
#[cfg(not(target_family = "wasm"))]
pub use threads::{
    Call, Cancel, Compactor, Function, Host, Inbox, Load, Model, Question, Settings, Shown,
    Strategy, Subject, UsageReader, Window, format_of_path, is_too_long, read_setting,
    says_too_long, serve_as_compiler, shipped,
};
