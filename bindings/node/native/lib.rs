//! The native part of the npm package: the host, called from JavaScript.
//!
//! Work runs in threads of its own ([`call::NativeCall`]); its outcome is fetched in the thread of the event loop. What
//! JavaScript programs see (names, types, documentation) is written in TypeScript, in `src`.

mod call;
mod compactor;
mod conversation;
mod errors;
mod functions;
mod host;
mod result;
mod strategy;
mod usage;
mod window;

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// Conversations are built in one thread and dropped in another, which makes the system's allocator slow.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compiles the component on standard input, in a process that the host started for that. Returns the exit code of the
/// process; nothing in every other process.
#[napi(catch_unwind)]
#[must_use]
pub fn compile_component(arguments: Vec<String>) -> Option<u8> {
    baler_embedding::serve_as_compiler(arguments)
}

/// Returns the wire format of conversations that are posted to a path; nothing if none are.
#[napi(catch_unwind)]
#[must_use]
pub fn format_of_path(path: String) -> Option<&'static str> {
    baler_embedding::format_of_path(&path)
}

/// Decides whether a provider refused a request as too long for its model, by the status and the body of its answer.
#[napi(catch_unwind)]
#[must_use]
pub fn is_too_long(status: u32, body: Buffer) -> bool {
    u16::try_from(status).is_ok_and(|status| baler_embedding::is_too_long(status, &body))
}

/// Decides whether the text of an error says so.
#[napi(catch_unwind)]
#[must_use]
pub fn says_too_long(text: String) -> bool {
    baler_embedding::says_too_long(&text)
}

/// Returns the version of the package.
#[napi]
#[must_use]
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the names of the strategies that ship with baler.
#[napi]
#[must_use]
pub fn strategies() -> Vec<&'static str> {
    baler_embedding::shipped().map(|(name, _)| name).collect()
}

/// Returns the component of a strategy that ships with baler; nothing if it has none.
#[napi(catch_unwind)]
#[must_use]
pub fn shipped_component(name: String) -> Option<Buffer> {
    let (_, wasm) = baler_embedding::shipped().find(|(known, _)| *known == name)?;
    wasm.map(Buffer::from)
}
