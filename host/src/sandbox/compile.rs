//! Compiling a component in a child, which can be killed.
//!
//! The sandbox limits what a component does when it runs; nothing in it limits what the
//! compiler does with a hostile file. So the program runs itself once more, under limits of
//! memory and CPU time that the system enforces: bytes in, compiled code out.

use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use wasmtime::Engine;

use super::LoadError;
use super::engine;
use crate::limits::EngineLimits;

/// Set for the child, to the limits as JSON.
const VARIABLE: &str = "BALER_COMPILE_COMPONENT";

/// Where components are compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    let limits = std::env::var(VARIABLE).ok()?;
    let done = serde_json::from_str(&limits)
        .map_err(|error| error.to_string())
        .and_then(|limits| compile_stdin(&limits));
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = io::stderr().write_all(message.as_bytes());
            ExitCode::FAILURE
        }
    })
}

fn compile_stdin(limits: &EngineLimits) -> Result<(), String> {
    limit_this_process(limits).map_err(|error| format!("the limits cannot be set: {error}"))?;
    let mut bytes = Vec::new();
    io::stdin()
        .take(limits.component_bytes as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    let code = compile_here(&bytes, limits)?;
    io::stdout()
        .write_all(&code)
        .and_then(|()| io::stdout().flush())
        .map_err(|error| error.to_string())
}

#[cfg(unix)]
fn limit_this_process(limits: &EngineLimits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = |value| Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    setrlimit(Resource::As, limit(limits.compile_memory))?;
    setrlimit(Resource::Cpu, limit(limits.compile_time.as_secs().max(1)))?;
    setrlimit(Resource::Core, limit(0))?;
    Ok(())
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
    if std::env::var_os(VARIABLE).is_some() && *compiler != Compiler::InProcess {
        // We are the child, and `main` went past the line that makes it a compiler. Starting
        // another one would go on for ever.
        return Err(LoadError::NoCompiler {
            what: "this program does not begin with `serve_as_compiler`".to_owned(),
        });
    }
    let program = match compiler {
        Compiler::InProcess => {
            return compile_here(bytes, limits).map_err(|what| LoadError::DoesNotCompile { what });
        }
        Compiler::ThisProgram => {
            std::env::current_exe().map_err(|source| LoadError::NoCompiler {
                what: format!("this program cannot be found: {source}"),
            })?
        }
        Compiler::Program(program) => program.clone(),
    };
    let settings = serde_json::to_string(limits).map_err(|error| LoadError::NoCompiler {
        what: error.to_string(),
    })?;
    let no_compiler = |error: io::Error| LoadError::NoCompiler {
        what: format!("`{}`: {error}", program.display()),
    };
    let mut child = tokio::process::Command::new(&program)
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
    let what = String::from_utf8_lossy(&complaint).trim().to_owned();
    Err(match status.code() {
        Some(1) if !what.is_empty() => LoadError::DoesNotCompile { what },
        // It succeeded in something, but not in this: not a program that begins as it should.
        Some(0) => LoadError::NoCompiler {
            what: format!(
                "`{}` does not begin with `serve_as_compiler`",
                program.display()
            ),
        },
        _ => LoadError::CompilerDied {
            memory: limits.compile_memory,
            time: limits.compile_time,
        },
    })
}
