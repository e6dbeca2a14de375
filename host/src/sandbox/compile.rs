//! Compiles components in a child process with limits.
//!
//! The sandbox limits a component while it runs, but it does not limit the compiler that reads a hostile
//! file. So the program starts itself again, with limits of memory and CPU time that the system enforces. The
//! child reads the component from its standard input and writes the compiled code to its standard output.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use wasmtime::Engine;

use super::{LoadError, engine};
use crate::bounded::bounded;
use crate::limits::EngineLimits;

/// Environment variable of the child: the limits as JSON.
const VARIABLE: &str = "BALER_COMPILE_COMPONENT";

/// Last argument of the child. Without it, a variable that is set for all programs makes none of them a
/// compiler.
const ARGUMENT: &str = "baler-compile-component";

/// Maximum bytes of a child's message in [`LoadError::CompilerFailed`].
const MESSAGE_BYTES: usize = 400;

/// Maximum bytes that are read from a child's standard error.
const STDERR_BYTES: u64 = 4_096;

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
    serve_as_compiler_with(std::env::args_os()).map(ExitCode::from)
}

/// Like [`serve_as_compiler`], with the arguments of the process from a program in another language, such as an
/// interpreter that loaded this crate ([`Compiler::Command`]). Returns the exit code of the process.
#[must_use]
pub fn serve_as_compiler_with(arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let limits = limits_of_child(arguments)?;
    let result = serde_json::from_slice(limits.as_encoded_bytes())
        .map_err(failed)
        .and_then(|limits| compile_stdin(&limits));
    Some(match result {
        Ok(()) => 0,
        Err((code, message)) => {
            let _ = io::stderr().write_all(message.as_bytes());
            code
        }
    })
}

/// Exit code of a child whose compiler refused the component.
const REFUSED: u8 = 1;

/// Exit code of a child that failed for a reason that is not in the component.
const FAILED: u8 = 2;

/// Failure of a child: its exit code and its message.
type ChildFailure = (u8, String);

fn failed(error: impl fmt::Display) -> ChildFailure {
    (FAILED, error.to_string())
}

/// Returns the limits, as JSON, if this process was started as a compiler.
fn limits_of_child(arguments: impl IntoIterator<Item = OsString>) -> Option<OsString> {
    let is_child = arguments.into_iter().last()? == ARGUMENT;
    std::env::var_os(VARIABLE).filter(|_| is_child)
}

fn compile_stdin(limits: &EngineLimits) -> Result<(), ChildFailure> {
    limit_this_process(limits)
        .map_err(|error| failed(format!("the limits cannot be set: {error}")))?;
    let mut bytes = Vec::new();
    io::stdin()
        .take(limits.component_bytes as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| match error.kind() {
            // Rust aborts when an allocation fails, and the parent knows that end of a child.
            io::ErrorKind::OutOfMemory => std::process::abort(),
            _ => failed(error),
        })?;
    let code = compile_here(&bytes, limits).map_err(|what| (REFUSED, what))?;
    io::stdout()
        .write_all(&code)
        .and_then(|()| io::stdout().flush())
        .map_err(failed)
}

/// Sets the limits of this process. Limits that it inherited may be lower, and only root can raise them.
#[cfg(unix)]
fn limit_this_process(limits: &EngineLimits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let inherited = InheritedLimits::of_this_process();
    let limit = |value| Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    let memory = limits.compile_memory;
    setrlimit(
        Resource::As,
        limit(inherited.memory.map_or(memory, |most| most.min(memory))),
    )?;
    let seconds = seconds(limits);
    let last = seconds.saturating_add(1);
    let last = inherited.seconds.map_or(last, |most| most.min(last));
    // At the soft limit the system sends SIGXCPU, which names the cause; at the hard limit SIGKILL, which
    // does not.
    let cpu = Rlimit {
        current: Some(seconds.min(last.saturating_sub(1).max(1)).min(last)),
        maximum: Some(last),
    };
    setrlimit(Resource::Cpu, cpu)?;
    setrlimit(Resource::Core, limit(0))?;
    Ok(())
}

/// Returns the seconds of CPU time for compiling.
#[cfg(unix)]
fn seconds(limits: &EngineLimits) -> u64 {
    limits.compile_time.as_secs().max(1)
}

/// Limits that this process inherited from its parent, and that its children inherit; `None` without a limit.
#[derive(Debug, Default)]
struct InheritedLimits {
    /// Bytes of memory.
    memory: Option<u64>,
    /// Seconds of CPU time.
    seconds: Option<u64>,
}

impl InheritedLimits {
    #[cfg(unix)]
    fn of_this_process() -> Self {
        use rustix::process::{Resource, getrlimit};
        Self {
            memory: getrlimit(Resource::As).maximum,
            seconds: getrlimit(Resource::Cpu).maximum,
        }
    }

    /// Other systems have no such limits.
    #[cfg(not(unix))]
    fn of_this_process() -> Self {
        Self::default()
    }

    /// Returns which of these limits are lower than what compiling may need, and the remedy; `None` if none
    /// is.
    fn too_low(&self, limits: &EngineLimits) -> Option<String> {
        let memory = self.memory.filter(|most| *most < limits.compile_memory);
        let memory = memory.map(|most| {
            format!(
                "`ulimit -v` allows it {} MiB of memory, and it may need {}",
                most >> 20,
                limits.compile_memory >> 20
            )
        });
        let wanted = limits.compile_time.as_secs();
        let time = self.seconds.filter(|most| *most < wanted);
        let time = time.map(|most| {
            format!("`ulimit -t` allows it {most} s of CPU time, and it may need {wanted}")
        });
        let too_low: Vec<String> = memory.into_iter().chain(time).collect();
        (!too_low.is_empty()).then(|| format!("{}: raise this limit", too_low.join("; ")))
    }
}

#[cfg(not(unix))]
fn limit_this_process(_: &EngineLimits) -> io::Result<()> {
    Ok(())
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
    if limits_of_child(std::env::args_os()).is_some() && *compiler != Compiler::InProcess {
        // This process is the child, and its `main` did not call `serve_as_compiler`. Another child would do
        // the same, without end.
        return Err(LoadError::NotACompiler {
            program: this_program()?,
        });
    }
    match compiler {
        Compiler::InProcess => {
            compile_here(bytes, limits).map_err(|message| LoadError::DoesNotCompile { message })
        }
        Compiler::ThisProgram => compile_in_child(this_program()?, &[], bytes, limits).await,
        Compiler::Program(program) => compile_in_child(program.clone(), &[], bytes, limits).await,
        Compiler::Command { program, arguments } => {
            compile_in_child(program.clone(), arguments, bytes, limits).await
        }
    }
}

/// Compiles `bytes` in a child process that runs `program`.
async fn compile_in_child(
    program: PathBuf,
    arguments: &[OsString],
    bytes: &[u8],
    limits: &EngineLimits,
) -> Result<Vec<u8>, LoadError> {
    let not_started = |source: io::Error| LoadError::CompilerNotStarted {
        program: program.clone(),
        source,
    };
    let child = start_child(&program, arguments, limits).map_err(not_started)?;
    let time = limits
        .compile_time
        .saturating_mul(2)
        .max(Duration::from_secs(1));
    let ChildResult {
        status,
        code,
        stderr,
    } = tokio::time::timeout(time, run_child(child, bytes))
        .await
        .map_err(|_| LoadError::CompilesTooLong { limit: time })?
        .map_err(not_started)?;
    if status.success() && !code.is_empty() {
        return Ok(code);
    }
    let message = String::from_utf8_lossy(&stderr).trim().to_owned();
    Err(match status.code() {
        Some(code) if code == i32::from(REFUSED) && !message.is_empty() => {
            LoadError::DoesNotCompile { message }
        }
        // The program succeeded, but not in compiling: its `main` does not call `serve_as_compiler`.
        Some(0) => LoadError::NotACompiler { program },
        _ => ended_early(
            status,
            &message,
            &InheritedLimits::of_this_process(),
            limits,
        ),
    })
}

/// Starts `program` as a compiler, with pipes to it.
fn start_child(program: &Path, arguments: &[OsString], limits: &EngineLimits) -> io::Result<Child> {
    let settings = serde_json::to_string(limits)?;
    Command::new(program)
        .args(arguments)
        .arg(ARGUMENT)
        .env_clear()
        .env(VARIABLE, settings)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// Exit status and output of a compiler child.
struct ChildResult {
    status: ExitStatus,
    /// Compiled code, from the standard output.
    code: Vec<u8>,
    /// Error message, cut at [`STDERR_BYTES`].
    stderr: Vec<u8>,
}

/// Writes the component to the child and reads its output until it ends.
async fn run_child(mut child: Child, bytes: &[u8]) -> io::Result<ChildResult> {
    let (Some(mut stdin), Some(mut stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::Error::other("the child process has no pipes"));
    };
    let mut code = Vec::new();
    let mut message = Vec::new();
    let feed = async {
        // A child that stops reading explains that by its exit code.
        let _ = stdin.write_all(bytes).await;
        drop(stdin);
    };
    let mut stderr = stderr.take(STDERR_BYTES);
    let (_, read, _) = tokio::join!(
        feed,
        stdout.read_to_end(&mut code),
        stderr.read_to_end(&mut message)
    );
    read?;
    Ok(ChildResult {
        status: child.wait().await?,
        code,
        stderr: message,
    })
}

/// Returns the path of the running program.
fn this_program() -> Result<PathBuf, LoadError> {
    std::env::current_exe().map_err(|source| LoadError::CompilerNotStarted {
        program: PathBuf::from("this program"),
        source,
    })
}

/// Returns the error for a child that ended without a result and without blaming the component.
fn ended_early(
    status: ExitStatus,
    message: &str,
    inherited: &InheritedLimits,
    limits: &EngineLimits,
) -> LoadError {
    let too_low = inherited.too_low(limits);
    if ended_by_limits(status) && too_low.is_none() {
        return LoadError::CompilerDied {
            memory: limits.compile_memory,
            time: limits.compile_time,
        };
    }
    let mut text = status.to_string();
    if !message.is_empty() {
        text = format!("{text}: {}", bounded(message, MESSAGE_BYTES));
    }
    if let Some(too_low) = too_low {
        text = format!("{text}; {too_low}");
    }
    LoadError::CompilerFailed { message: text }
}

/// Returns whether a child ended by its limits: by the signal for CPU time, or by an abort after a failed
/// allocation.
#[cfg(unix)]
fn ended_by_limits(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::Signal;
    let signals = [Signal::XCPU.as_raw(), Signal::ABORT.as_raw()];
    status.signal().is_some_and(|by| signals.contains(&by))
}

/// Other systems have no such limits.
#[cfg(not(unix))]
fn ended_by_limits(_: ExitStatus) -> bool {
    false
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn ended_by_limits_recognizes_the_signals_of_limits() {
        // SIGABRT and SIGXCPU, as Linux numbers them.
        for raw in [6, 24] {
            assert!(ended_by_limits(ExitStatus::from_raw(raw)), "{raw}");
        }
        // SIGKILL, SIGSEGV, SIGTERM; the exit codes 0, 1 and 101, which is a panic.
        for raw in [9, 11, 15, 0, 1 << 8, 101 << 8] {
            assert!(!ended_by_limits(ExitStatus::from_raw(raw)), "{raw}");
        }
    }

    #[test]
    fn ended_early_names_an_inherited_limit_that_is_too_low() {
        let limits = EngineLimits::default();
        let abort = ExitStatus::from_raw(6);
        let free = ended_early(abort, "", &InheritedLimits::default(), &limits);
        assert!(matches!(free, LoadError::CompilerDied { .. }), "{free}");
        // Inherited limits that equal the own limits are not lower.
        let enough = InheritedLimits {
            memory: Some(limits.compile_memory),
            seconds: Some(120),
        };
        let enough = ended_early(abort, "", &enough, &limits);
        assert!(matches!(enough, LoadError::CompilerDied { .. }), "{enough}");
        let (memory, seconds) = (Some(100 << 20), Some(59));
        let by_memory = "`ulimit -v` allows it 100 MiB of memory, and it may need 2048";
        let by_time = "`ulimit -t` allows it 59 s of CPU time, and it may need 120";
        for (memory, seconds, expected) in [
            (memory, None, by_memory.to_owned()),
            (None, seconds, by_time.to_owned()),
            (memory, seconds, format!("{by_memory}; {by_time}")),
        ] {
            // SIGABRT and SIGKILL.
            for raw in [6, 9] {
                let inherited = InheritedLimits { memory, seconds };
                let status = ExitStatus::from_raw(raw);
                let error = ended_early(status, "no room", &inherited, &limits);
                assert_eq!(error.code(), "compiler-failed");
                let told = error.to_string();
                assert!(told.contains("no room; "), "{told}");
                assert!(told.contains(&expected), "{told}");
                assert!(told.contains("raise this limit"), "{told}");
            }
        }
    }
}
