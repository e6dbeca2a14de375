//! What needs threads: hosts with files, networks and a sandbox, and calls that run beside one another.
//!
//! Calls must run in threads of at least 2 MiB of stack: [`Call::start`] makes one.

mod call;
mod compactor;
mod error;
mod function;
mod host;
mod inbox;
mod model;
mod per_process;
mod settings;
mod strategy;
mod usage;
mod window;

pub use call::{Call, Cancel};
pub use compactor::{Compactor, read_setting};
pub use function::{Function, Question, Subject};
pub use host::Host;
pub use inbox::Inbox;
pub use model::Model;
pub use settings::Settings;
pub use strategy::{Load, Strategy, shipped};
pub use usage::UsageReader;
pub use window::{Shown, Window};

/// Compiles the component on standard input, in a process that the host started for that. Returns the exit code of
/// the process; `None` in every other process. `arguments` are those of the process.
#[must_use]
pub fn serve_as_compiler(arguments: Vec<String>) -> Option<u8> {
    baler_host::serve_as_compiler_with(arguments.into_iter().map(Into::into))
}

/// The wire format of conversations that are posted to a path; `None` if none are.
#[must_use]
pub fn format_of_path(path: &str) -> Option<&'static str> {
    Some(baler_host::Format::posted_to(path)?.name())
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
