//! Compiling a component in a child, which can be killed.
//!
//! The sandbox limits what a component does when it runs; nothing in it limits what the
//! compiler does with a hostile file. So the program runs itself once more, under limits of
//! memory and CPU time that the system enforces: bytes in, compiled code out.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use wasmtime::Engine;

use super::{LoadError, engine};
use crate::bounded::bounded;
use crate::limits::EngineLimits;

/// Set for the child, to the limits as JSON.
const VARIABLE: &str = "BALER_COMPILE_COMPONENT";

/// The child's first argument. So a variable that somebody set for all programs makes none of
/// them a compiler.
const ARGUMENT: &str = "baler-compile-component";

/// The most bytes of what a child says that is no compiler's error.
const WORDS: usize = 400;

/// Where components are compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compiler {
    /// In a child: this program run again. Its `main` has to begin with
    /// [`crate::serve_as_compiler`].
    ThisProgram,
    /// In a child: another program whose `main` begins so, such as `baler` itself.
    Program(PathBuf),
    /// In this process, without limits. For components that one has made oneself.
    InProcess,
}

/// Compiles a component if this process was started to do so, and then gives the code to exit
/// with; otherwise does nothing. The first line of `main` in a program that uses
/// [`Compiler::ThisProgram`]:
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     if let Some(done) = baler_host::serve_as_compiler() {
///         return done;
///     }
///     // …
///     # std::process::ExitCode::SUCCESS
/// }
/// ```
#[must_use]
pub fn serve_as_compiler() -> Option<ExitCode> {
    let limits = limits_of_child()?;
    let done = serde_json::from_slice(limits.as_encoded_bytes())
        .map_err(failed)
        .and_then(|limits| compile_stdin(&limits));
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, message)) => {
            let _ = io::stderr().write_all(message.as_bytes());
            ExitCode::from(code)
        }
    })
}

/// The exit code of a child whose compiler refuses the component.
const REFUSES: u8 = 1;

/// The exit code of one that could not do its work, whatever the component is.
const FAILED: u8 = 2;

/// How a child ends early: its exit code, and what it says.
type Early = (u8, String);

fn failed(error: impl fmt::Display) -> Early {
    (FAILED, error.to_string())
}

/// The limits that this process was started with to compile; none where it was not.
fn limits_of_child() -> Option<OsString> {
    let is_child = std::env::args_os().nth(1)? == ARGUMENT;
    std::env::var_os(VARIABLE).filter(|_| is_child)
}

fn compile_stdin(limits: &EngineLimits) -> Result<(), Early> {
    limit_this_process(limits)
        .map_err(|error| failed(format!("the limits cannot be set: {error}")))?;
    let mut bytes = Vec::new();
    io::stdin()
        .take(limits.component_bytes as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| match error.kind() {
            // As where any other memory cannot be had: its parent knows that end.
            io::ErrorKind::OutOfMemory => std::process::abort(),
            _ => failed(error),
        })?;
    let code = compile_here(&bytes, limits).map_err(|what| (REFUSES, what))?;
    io::stdout()
        .write_all(&code)
        .and_then(|()| io::stdout().flush())
        .map_err(failed)
}

/// Limits this process, within what it was started with: nobody but root raises that again.
#[cfg(unix)]
fn limit_this_process(limits: &EngineLimits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let most = Most::inherited();
    let limit = |value| Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    let memory = limits.compile_memory;
    setrlimit(
        Resource::As,
        limit(most.memory.map_or(memory, |most| most.min(memory))),
    )?;
    let seconds = seconds(limits);
    let last = seconds.saturating_add(1);
    let last = most.seconds.map_or(last, |most| most.min(last));
    // At the first the system tells by its signal that it was this limit, which the one at the
    // second does not.
    let cpu = Rlimit {
        current: Some(seconds.min(last.saturating_sub(1).max(1)).min(last)),
        maximum: Some(last),
    };
    setrlimit(Resource::Cpu, cpu)?;
    setrlimit(Resource::Core, limit(0))?;
    Ok(())
}

/// Seconds of CPU time that compiling may take.
#[cfg(unix)]
fn seconds(limits: &EngineLimits) -> u64 {
    limits.compile_time.as_secs().max(1)
}

/// The most that whoever started this process lets it have, its children included; none where that
/// has no limit.
#[derive(Debug, Default)]
struct Most {
    /// Bytes of memory.
    memory: Option<u64>,
    /// Seconds of CPU time.
    seconds: Option<u64>,
}

impl Most {
    #[cfg(unix)]
    fn inherited() -> Self {
        use rustix::process::{Resource, getrlimit};
        Self {
            memory: getrlimit(Resource::As).maximum,
            seconds: getrlimit(Resource::Cpu).maximum,
        }
    }

    /// Elsewhere there are no limits.
    #[cfg(not(unix))]
    fn inherited() -> Self {
        Self::default()
    }

    /// Where it is less than compiling may take: which limit that is, and what to do.
    fn too_little(&self, limits: &EngineLimits) -> Option<String> {
        let memory = self.memory.filter(|most| *most < limits.compile_memory);
        let memory = memory.map(|most| {
            format!(
                "`ulimit -v` lets it have {} MiB of memory, and it may need {}",
                most >> 20,
                limits.compile_memory >> 20
            )
        });
        let wanted = limits.compile_time.as_secs();
        let time = self.seconds.filter(|most| *most < wanted);
        let time = time.map(|most| {
            format!("`ulimit -t` lets it have {most} s of CPU time, and it may need {wanted}")
        });
        let told: Vec<String> = memory.into_iter().chain(time).collect();
        (!told.is_empty()).then(|| format!("{}: raise what is too low", told.join("; ")))
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
    if limits_of_child().is_some() && *compiler != Compiler::InProcess {
        // We are the child, and `main` went past the line that makes it a compiler. Starting
        // another one would go on for ever.
        return Err(LoadError::NotACompiler {
            program: this_program()?,
        });
    }
    let program = match compiler {
        Compiler::InProcess => {
            return compile_here(bytes, limits)
                .map_err(|message| LoadError::DoesNotCompile { message });
        }
        Compiler::ThisProgram => this_program()?,
        Compiler::Program(program) => program.clone(),
    };
    let no_compiler = |source: io::Error| LoadError::CompilerNotStarted {
        program: program.clone(),
        source,
    };
    let settings = serde_json::to_string(limits).map_err(|error| no_compiler(error.into()))?;
    let mut child = tokio::process::Command::new(&program)
        .arg(ARGUMENT)
        .env_clear()
        .env(VARIABLE, settings)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(no_compiler)?;
    let (Some(mut stdin), Some(mut stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(no_compiler(io::Error::other("it has no pipes")));
    };
    let time = limits
        .compile_time
        .saturating_mul(2)
        .max(Duration::from_secs(1));
    let talk = async {
        let mut code = Vec::new();
        let mut complaint = Vec::new();
        let feed = async {
            // A child that stops reading has a reason, which it tells in its exit code.
            let _ = stdin.write_all(bytes).await;
            drop(stdin);
        };
        let mut complaints = stderr.take(4_096);
        let (_, read, _) = tokio::join!(
            feed,
            stdout.read_to_end(&mut code),
            complaints.read_to_end(&mut complaint)
        );
        read?;
        Ok::<_, io::Error>((child.wait().await?, code, complaint))
    };
    let (status, code, complaint) = tokio::time::timeout(time, talk)
        .await
        .map_err(|_| LoadError::CompilesTooLong { limit: time })?
        .map_err(no_compiler)?;
    if status.success() && !code.is_empty() {
        return Ok(code);
    }
    let message = String::from_utf8_lossy(&complaint).trim().to_owned();
    Err(match status.code() {
        Some(code) if code == i32::from(REFUSES) && !message.is_empty() => {
            LoadError::DoesNotCompile { message }
        }
        // It succeeded in something, but not in this: not a program that begins as it should.
        Some(0) => LoadError::NotACompiler { program },
        _ => ended(status, &message, &Most::inherited(), limits),
    })
}

/// The file of this program.
fn this_program() -> Result<PathBuf, LoadError> {
    std::env::current_exe().map_err(|source| LoadError::CompilerNotStarted {
        program: PathBuf::from("this program"),
        source,
    })
}

/// What it means that a child ended early, where that tells nothing of the component.
fn ended(status: ExitStatus, what: &str, most: &Most, limits: &EngineLimits) -> LoadError {
    let too_little = most.too_little(limits);
    if is_of_limits(status) && too_little.is_none() {
        return LoadError::CompilerDied {
            memory: limits.compile_memory,
            time: limits.compile_time,
        };
    }
    let mut told = status.to_string();
    if !what.is_empty() {
        told = format!("{told}: {}", bounded(what, WORDS));
    }
    if let Some(too_little) = too_little {
        told = format!("{told}; {too_little}");
    }
    LoadError::CompilerFailed { message: told }
}

/// Whether a child ended as one ends that runs into its limits: by the signal for the time, or by
/// its own hand where it gets no more memory.
#[cfg(unix)]
fn is_of_limits(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::Signal;
    let signals = [Signal::XCPU.as_raw(), Signal::ABORT.as_raw()];
    status.signal().is_some_and(|by| signals.contains(&by))
}

/// Elsewhere there are no limits.
#[cfg(not(unix))]
fn is_of_limits(_: ExitStatus) -> bool {
    false
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn is_of_limits_knows_the_ends_that_limits_make() {
        // SIGABRT and SIGXCPU, as Linux numbers them.
        for raw in [6, 24] {
            assert!(is_of_limits(ExitStatus::from_raw(raw)), "{raw}");
        }
        // SIGKILL, SIGSEGV, SIGTERM; the exit codes 0, 1 and 101, which is a panic.
        for raw in [9, 11, 15, 0, 1 << 8, 101 << 8] {
            assert!(!is_of_limits(ExitStatus::from_raw(raw)), "{raw}");
        }
    }

    #[test]
    fn a_limit_that_was_there_before_is_named_and_not_taken_for_ours() {
        let limits = EngineLimits::default();
        let abort = ExitStatus::from_raw(6);
        let free = ended(abort, "", &Most::default(), &limits);
        assert!(matches!(free, LoadError::CompilerDied { .. }), "{free}");
        // As much as may be taken is no lower limit.
        let enough = Most {
            memory: Some(limits.compile_memory),
            seconds: Some(60),
        };
        let enough = ended(abort, "", &enough, &limits);
        assert!(matches!(enough, LoadError::CompilerDied { .. }), "{enough}");
        let (memory, seconds) = (Some(100 << 20), Some(59));
        let by_memory = "`ulimit -v` lets it have 100 MiB of memory, and it may need 2048";
        let by_time = "`ulimit -t` lets it have 59 s of CPU time, and it may need 60";
        for (memory, seconds, expected) in [
            (memory, None, by_memory.to_owned()),
            (None, seconds, by_time.to_owned()),
            (memory, seconds, format!("{by_memory}; {by_time}")),
        ] {
            // Also where the system's last resort ended it.
            for raw in [6, 9] {
                let most = Most { memory, seconds };
                let error = ended(ExitStatus::from_raw(raw), "no room", &most, &limits);
                assert_eq!(error.code(), "compiler-failed");
                let told = error.to_string();
                assert!(told.contains("no room; "), "{told}");
                assert!(told.contains(&expected), "{told}");
                assert!(told.contains("raise what is too low"), "{told}");
            }
        }
    }
}
