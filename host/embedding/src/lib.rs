//! One layer for all bindings: what programs in other languages hold of baler.
//!
//! Options come in and results go out as JSON, so that an option exists in every language or in none
//! ([`options::TABLE`]). What stays in Rust is held by handles: [`Host`], [`Strategy`], [`Conversation`], [`Compaction`],
//! [`Compactor`], [`Window`]. Work runs in a [`Call`] of its own, which can be waited for and cancelled from any thread.
//! What the host has to ask a function of the caller arrives as a [`Question`]; a binding whose language takes no calls
//! from foreign threads fetches questions from an [`Inbox`].
//!
//! Calls must run in threads of at least 2 MiB of stack: [`Call::start`] makes one.

mod call;
mod compaction;
mod compactor;
mod conversation;
mod error;
mod function;
mod host;
mod inbox;
mod model;
pub mod options;
mod per_process;
mod settings;
mod strategy;
mod window;

pub use call::{Call, Cancel};
pub use compaction::{Compaction, MessageOfResult};
pub use compactor::{Compactor, read_setting};
pub use conversation::Conversation;
pub use error::{Error, Kind, Remedy};
pub use function::{Function, Question, Subject};
pub use host::Host;
pub use inbox::Inbox;
pub use model::Model;
pub use settings::Settings;
pub use strategy::{Load, Strategy, shipped};
pub use window::{Shown, Window};

/// Compiles the component on standard input, in a process that the host started for that. Returns the exit code of
/// the process; `None` in every other process. `arguments` are those of the process.
#[must_use]
pub fn serve_as_compiler(arguments: Vec<String>) -> Option<u8> {
    baler_host::serve_as_compiler_with(arguments.into_iter().map(Into::into))
}

/// Whether a provider refused a request as too long for its model, by the status and the body of its answer.
#[must_use]
pub fn is_too_long(status: u16, body: &[u8]) -> bool {
    baler_models::clients::is_too_long(status, body)
}

/// Whether the text of an error says so.
#[must_use]
pub fn says_too_long(text: &str) -> bool {
    baler_models::clients::says_too_long(text)
}
