//! The native part of the Python package: the host, called from any Python thread.
//!
//! It takes bytes, texts and Python objects, and returns texts. What Python programs see (names, types,
//! documentation) is written in Python, in `python/baler`.

mod callables;
mod compactor;
mod conversation;
mod errors;
mod host;
mod json;
mod result;
mod running;
mod strategy;
mod usage;
mod view;

use pyo3::prelude::*;

/// Conversations are built in one thread and dropped in another, which makes the system's allocator slow.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Native part of the package `baler`. Use `baler` instead: nothing here is stable.
#[pymodule]
mod _baler {
    use super::*;

    #[pymodule_export]
    use super::compactor::NativeCompactor;
    #[pymodule_export]
    use super::conversation::NativeConversation;
    #[pymodule_export]
    use super::host::NativeHost;
    #[pymodule_export]
    use super::json::to_json;
    #[pymodule_export]
    use super::result::NativeResult;
    #[pymodule_export]
    use super::running::Cancel;
    #[pymodule_export]
    use super::strategy::NativeStrategy;
    #[pymodule_export]
    use super::usage::NativeUsage;
    #[pymodule_export]
    use super::view::NativeShown;
    #[pymodule_export]
    use super::view::NativeWindow;

    /// Compiles the component on standard input, in a process that the host started for that. Returns the
    /// exit code of the process; `None` in every other process.
    #[pyfunction]
    fn compile_component(arguments: Vec<String>) -> Option<u8> {
        baler_embedding::serve_as_compiler(arguments)
    }

    /// Returns the wire format of conversations that are posted to a path; `None` if none are.
    #[pyfunction]
    fn format_of_path(path: &str) -> Option<&'static str> {
        baler_embedding::format_of_path(path)
    }

    /// Decides whether a provider refused a request as too long for its model, by the status and the body of its answer.
    #[pyfunction]
    fn is_too_long(status: u16, body: &[u8]) -> bool {
        baler_embedding::is_too_long(status, body)
    }

    /// Decides whether the text of an error says so.
    #[pyfunction]
    fn says_too_long(text: &str) -> bool {
        baler_embedding::says_too_long(text)
    }

    /// Returns the version of the package.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Returns the strategies that ship with baler, as pairs of a name and a component; without a component
    /// for those that are part of the host.
    #[pyfunction]
    fn strategies() -> Vec<(&'static str, Option<&'static [u8]>)> {
        baler_embedding::shipped().collect()
    }
}
