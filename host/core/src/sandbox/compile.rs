//! Compiles components in a child process with limits.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use wasmtime::Engine;

use super::{LoadError, engine};
use crate::child::{ChildError, ChildTask};
use crate::limits::EngineLimits;

const TASK: ChildTask = ChildTask::new("baler-compile-component", compile_here);

/// Process in which components are compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compiler {
    /// A child process with limits: this program, started again. Its `main` must begin with
    /// [`crate::serve_as_compiler`].
    ThisProgram,
    /// A child process with limits: another program whose `main` begins with [`crate::serve_as_compiler`],
    /// such as `baler`.
    Program(PathBuf),
    /// A child process with limits: a command, to which one argument is added, and that calls
    /// [`crate::serve_as_compiler_with`]. For programs that an interpreter runs.
    Command {
        /// Path of the program.
        program: PathBuf,
        /// Arguments before the one that is added.
        arguments: Vec<OsString>,
    },
    /// This process, without limits. Only for trusted components.
    InProcess,
}

/// Compiles a component if this process was started as a compiler, and returns the exit code of the process.
///
/// Returns `None` in every other process, and does nothing there. A program that uses
/// [`Compiler::ThisProgram`] calls it at the beginning of `main`:
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     if let Some(exit_code) = baler_host::serve_as_compiler() {
///         return exit_code;
///     }
///     // …
///     # std::process::ExitCode::SUCCESS
/// }
/// ```
#[must_use]
pub fn serve_as_compiler() -> Option<ExitCode> {
    TASK.serve()
}

/// Like [`serve_as_compiler`], with the arguments of the process from a program in another language, such as an
/// interpreter that loaded this crate ([`Compiler::Command`]). Returns the exit code of the process.
#[must_use]
pub fn serve_as_compiler_with(arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
    TASK.serve_with(arguments)
}

fn compile_here(bytes: &[u8], limits: &EngineLimits) -> Result<Vec<u8>, String> {
    let engine = Engine::new(&engine::config(limits)).map_err(|error| format!("{error:#}"))?;
    engine
        .precompile_component(bytes)
        .map_err(|error| format!("{error:#}"))
}

/// Compiles `bytes` into code for the running engine.
pub(super) async fn compile(
    compiler: &Compiler,
    bytes: &[u8],
    limits: &EngineLimits,
) -> Result<Vec<u8>, LoadError> {
    let code = match compiler {
        Compiler::InProcess => {
            return compile_here(bytes, limits)
                .map_err(|message| LoadError::DoesNotCompile { message });
        }
        Compiler::ThisProgram => TASK.run(bytes, limits).await,
        Compiler::Program(program) => TASK.run_in(program.clone(), &[], bytes, limits).await,
        Compiler::Command { program, arguments } => {
            TASK.run_in(program.clone(), arguments, bytes, limits).await
        }
    };
    code.map_err(|error| match error {
        ChildError::Refused { message } => LoadError::DoesNotCompile { message },
        error => error.into(),
    })
}
