//! Runs a task of this program in a child process with limits.
//!
//! The sandbox limits a component while it runs, but it does not limit what reads a hostile file before that, such
//! as a compiler. So the program starts itself again, with limits of memory and CPU time that the system enforces.
//! The child reads its input from its standard input and writes its output to its standard output.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::bounded::bounded;
use crate::limits::EngineLimits;

/// Environment variable of the child: the limits as JSON.
const VARIABLE: &str = "BALER_CHILD_LIMITS";

/// Maximum bytes of a child's message in [`ChildError::EndedEarly`].
const MESSAGE_BYTES: usize = 400;

/// Maximum bytes that are read from a child's standard error.
const STDERR_BYTES: u64 = 4_096;

/// A task of this program that reads untrusted files, and runs in a child process with the limits
/// [`EngineLimits::compile_memory`] and [`EngineLimits::compile_time`].
#[derive(Debug, Clone, Copy)]
pub struct ChildTask {
    argument: &'static str,
    work: fn(&[u8], &EngineLimits) -> Result<Vec<u8>, String>,
}

/// Why a task has no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChildError {
    /// The task refused its input.
    #[error("{message}")]
    Refused {
        /// Message of the task.
        message: String,
    },
    /// The task exceeded its wall-clock time.
    #[error("it took longer than {} s", limit.as_secs())]
    TooLong {
        /// Limit of wall-clock time.
        limit: Duration,
    },
    /// The task exceeded its memory or its CPU time.
    #[error("it took more than {} MiB of memory or {} s of CPU time", memory >> 20, time.as_secs())]
    OverLimits {
        /// Limit of memory in bytes.
        memory: u64,
        /// Limit of CPU time.
        time: Duration,
    },
    /// The child process ended early, for another or an unknown reason.
    #[error(
        "the child process ended before it was done ({message}); the machine may lack memory, threads or processes: try again when it has more of them"
    )]
    EndedEarly {
        /// Exit status and message of the child.
        message: String,
    },
    /// The child process could not be started.
    #[error("the child process `{}` cannot be started", program.display())]
    NotStarted {
        /// Path of the program.
        program: PathBuf,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
    /// The program that was started does not serve the task.
    #[error("the program `{}` does not serve the task: call `ChildTask::serve` (for the compiler `serve_as_compiler`) at the beginning of its `main`", program.display())]
    NotServed {
        /// Path of the program.
        program: PathBuf,
    },
}

impl ChildError {
    /// Returns a short, stable name of the error.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "refused",
            Self::TooLong { .. } => "compiles-too-long",
            Self::OverLimits { .. } => "compiler-died",
            Self::EndedEarly { .. } => "compiler-failed",
            Self::NotStarted { .. } | Self::NotServed { .. } => "no-compiler",
        }
    }

    /// Decides whether the machine or its settings are the cause, and not the input.
    #[must_use]
    pub const fn is_by_the_machine(&self) -> bool {
        matches!(
            self,
            Self::EndedEarly { .. } | Self::NotStarted { .. } | Self::NotServed { .. }
        )
    }
}

/// Exit code of a child that refused its input.
const REFUSED: u8 = 1;

/// Exit code of a child that failed for a reason that is not in its input.
const FAILED: u8 = 2;

/// Failure of a child: its exit code and its message.
type ChildFailure = (u8, String);

fn failed(error: impl fmt::Display) -> ChildFailure {
    (FAILED, error.to_string())
}

impl ChildTask {
    /// Returns the task that does `work`. A child recognizes its task by its last argument, `argument`, which must
    /// differ between tasks. The environment variable alone does not make a program a child.
    #[must_use]
    pub const fn new(
        argument: &'static str,
        work: fn(&[u8], &EngineLimits) -> Result<Vec<u8>, String>,
    ) -> Self {
        Self { argument, work }
    }

    /// Does the task if this process was started for it, and returns the exit code of the process. Returns `None`
    /// in every other process, and does nothing there. A program calls it at the beginning of `main`.
    #[must_use]
    pub fn serve(&self) -> Option<ExitCode> {
        self.serve_with(std::env::args_os()).map(ExitCode::from)
    }

    /// Like [`Self::serve`], with the arguments of the process.
    pub(crate) fn serve_with(&self, arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
        let limits = self.limits_of_child(arguments)?;
        let result = serde_json::from_slice(limits.as_encoded_bytes())
            .map_err(failed)
            .and_then(|limits| self.work_on_stdin(&limits));
        Some(match result {
            Ok(()) => 0,
            Err((code, message)) => {
                let _ = io::stderr().write_all(message.as_bytes());
                code
            }
        })
    }

    /// Runs the task in a child process of this program, whose `main` must begin with [`Self::serve`].
    ///
    /// # Errors
    /// Returns an error if the task refuses the input, exceeds the limits or fails, or if the machine fails.
    pub async fn run(&self, input: &[u8], limits: &EngineLimits) -> Result<Vec<u8>, ChildError> {
        self.run_in(this_program()?, &[], input, limits).await
    }

    /// Runs the task in a child process of `program`, with `arguments` before the task's own.
    pub(crate) async fn run_in(
        &self,
        program: PathBuf,
        arguments: &[OsString],
        input: &[u8],
        limits: &EngineLimits,
    ) -> Result<Vec<u8>, ChildError> {
        if self.limits_of_child(std::env::args_os()).is_some() {
            // This process is the child, and its `main` did not serve the task. Another child would do the same,
            // without end.
            return Err(ChildError::NotServed {
                program: this_program()?,
            });
        }
        let not_started = |source: io::Error| ChildError::NotStarted {
            program: program.clone(),
            source,
        };
        let child = self
            .start(&program, arguments, limits)
            .map_err(not_started)?;
        let time = limits
            .compile_time
            .saturating_mul(2)
            .max(Duration::from_secs(1));
        let ChildResult {
            status,
            output,
            stderr,
        } = tokio::time::timeout(time, run_child(child, input))
            .await
            .map_err(|_| ChildError::TooLong { limit: time })?
            .map_err(not_started)?;
        if status.success() && !output.is_empty() {
            return Ok(output);
        }
        let message = String::from_utf8_lossy(&stderr).trim().to_owned();
        Err(match status.code() {
            Some(code) if code == i32::from(REFUSED) && !message.is_empty() => {
                ChildError::Refused { message }
            }
            // The program succeeded, but in something else.
            Some(0) => ChildError::NotServed { program },
            _ => ended_early(
                status,
                &message,
                &InheritedLimits::of_this_process(),
                limits,
            ),
        })
    }

    /// Returns the limits, as JSON, if this process was started for the task.
    fn limits_of_child(&self, arguments: impl IntoIterator<Item = OsString>) -> Option<OsString> {
        let is_child = arguments.into_iter().last()? == self.argument;
        std::env::var_os(VARIABLE).filter(|_| is_child)
    }

    fn work_on_stdin(&self, limits: &EngineLimits) -> Result<(), ChildFailure> {
        limit_this_process(limits)
            .map_err(|error| failed(format!("the limits cannot be set: {error}")))?;
        let mut input = Vec::new();
        // How much it may be is decided by the parent, which is this program too.
        io::stdin()
            .read_to_end(&mut input)
            .map_err(|error| match error.kind() {
                // Rust aborts when an allocation fails, and the parent knows that end of a child.
                io::ErrorKind::OutOfMemory => std::process::abort(),
                _ => failed(error),
            })?;
        let output = (self.work)(&input, limits).map_err(|what| (REFUSED, what))?;
        io::stdout()
            .write_all(&output)
            .and_then(|()| io::stdout().flush())
            .map_err(failed)
    }

    /// Starts `program` for the task, with pipes to it.
    fn start(
        &self,
        program: &Path,
        arguments: &[OsString],
        limits: &EngineLimits,
    ) -> io::Result<Child> {
        let settings = serde_json::to_string(limits)?;
        Command::new(program)
            .args(arguments)
            .arg(self.argument)
            .env_clear()
            .env(VARIABLE, settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }
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
    let memory = limits.compile_memory.saturating_add(reserved());
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

/// Returns the bytes of address space that this process has already. A runtime in which the task is served (JavaScript's,
/// say) reserves gigabytes that it never uses.
#[cfg(unix)]
fn reserved() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or_default().saturating_mul(1_024)
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

/// Exit status and output of a child.
struct ChildResult {
    status: ExitStatus,
    output: Vec<u8>,
    /// Error message, cut at [`STDERR_BYTES`].
    stderr: Vec<u8>,
}

/// Writes the input to the child and reads its output until it ends.
async fn run_child(mut child: Child, input: &[u8]) -> io::Result<ChildResult> {
    let (Some(mut stdin), Some(mut stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::Error::other("the child process has no pipes"));
    };
    let mut output = Vec::new();
    let mut message = Vec::new();
    let feed = async {
        // A child that stops reading explains that by its exit code.
        let _ = stdin.write_all(input).await;
        drop(stdin);
    };
    let mut stderr = stderr.take(STDERR_BYTES);
    let (_, read, _) = tokio::join!(
        feed,
        stdout.read_to_end(&mut output),
        stderr.read_to_end(&mut message)
    );
    read?;
    Ok(ChildResult {
        status: child.wait().await?,
        output,
        stderr: message,
    })
}

/// Returns the path of the running program.
fn this_program() -> Result<PathBuf, ChildError> {
    std::env::current_exe().map_err(|source| ChildError::NotStarted {
        program: PathBuf::from("this program"),
        source,
    })
}

/// Returns the error for a child that ended without a result and without blaming its input.
fn ended_early(
    status: ExitStatus,
    message: &str,
    inherited: &InheritedLimits,
    limits: &EngineLimits,
) -> ChildError {
    let too_low = inherited.too_low(limits);
    if ended_by_limits(status) && too_low.is_none() {
        return ChildError::OverLimits {
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
    ChildError::EndedEarly { message: text }
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
        assert!(matches!(free, ChildError::OverLimits { .. }), "{free}");
        // Inherited limits that equal the own limits are not lower.
        let enough = InheritedLimits {
            memory: Some(limits.compile_memory),
            seconds: Some(120),
        };
        let enough = ended_early(abort, "", &enough, &limits);
        assert!(matches!(enough, ChildError::OverLimits { .. }), "{enough}");
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
                assert!(matches!(error, ChildError::EndedEarly { .. }), "{error}");
                let told = error.to_string();
                assert!(told.contains("no room; "), "{told}");
                assert!(told.contains(&expected), "{told}");
                assert!(told.contains("raise this limit"), "{told}");
            }
        }
    }
}
