use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::anyhow;
use baler_proxy::Total;
use clap::Args;
use tokio::process::Command;

use super::proxy::BLOCKING_THREADS;
use crate::exit::{Exit, Failure};
use crate::figures::{cleaned, count, number};
use crate::output::{self, Messages};
use crate::proxied::ProxiedArguments;
use crate::proxied::programs::{self, Found};
use crate::signals;
use crate::threads;

/// Run an agent whose requests stay within a window: baler run -- claude
///
/// Starts a proxy (`baler proxy`) on a free port for this program alone, runs the program with the settings that it
/// needs, and ends with it. Claude Code, gemini-cli and programs with the clients of OpenAI, Anthropic and Google get
/// their base URL by environment variables, Codex by `-c`, OpenCode by a configuration. A base URL that was set before
/// is where requests go on to.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct RunCommand {
    /// Say nothing at the end
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,

    /// Do not give the program the tool that retrieves what was removed (`baler mcp`)
    #[arg(long, help_heading = "Output")]
    no_retrieve: bool,

    #[command(flatten)]
    proxied: ProxiedArguments,

    /// The program and its arguments. Options after the program belong to the program
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    program: Vec<OsString>,
}

const AFTER: &str = "\
Examples:
  baler run -- claude
  baler run --context-window 120000 -- codex exec \"fix the failing test\"
  baler run --strategy ./ours.wasm -- gemini

The exit code is that of the program; 128 and the number of the signal that ended it; 127 if it was not
found, 126 if it cannot be executed. Before it starts: 1 baler failed, 2 invalid usage";

impl RunCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        let code = threads::run(self.run(), BLOCKING_THREADS, "proxy")?;
        // The codes of the program are not baler's.
        std::process::exit(code)
    }

    async fn run(self) -> Result<i32, Failure> {
        let messages = Messages { quiet: self.quiet };
        let Some((program, arguments)) = self.program.split_first() else {
            return Err(Failure::wrong_use(anyhow!(
                "expected a program behind `--`"
            )));
        };
        if program.to_string_lossy().starts_with('-') {
            return Err(Failure::wrong_use(anyhow!(
                "`{}` is no option of `baler run`, and no program: options stand before the program, such as `baler run --context-window 120000 -- claude`",
                cleaned(&program.to_string_lossy())
            )));
        }
        let run = format!("{:x}-{:x}", std::process::id(), started());
        let tool = (!self.no_retrieve)
            .then(|| self.proxied.retrieval(&run))
            .flatten();
        let plan = programs::plan(program, arguments, &Found::here(tool));
        for warning in &plan.warnings {
            // Who wants it quiet wants to know all the more if nothing passes.
            Messages { quiet: false }.warn(warning);
        }
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let upstreams = plan.upstreams.clone();
        let bound = self
            .proxied
            .bind(anywhere, None, upstreams, Some(run), messages)
            .await?;
        let address = bound.proxy.address();
        let settings = plan.settings(address);
        let passed = bound.passed;
        messages.say(&format!(
            "baler: this session can be watched at http://{address}/ui\n"
        ));
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let proxy = tokio::spawn(bound.proxy.serve(async {
            let _ = ended.await;
        }));
        let mut command = Command::new(program);
        command
            .args(&settings.arguments)
            .args(arguments)
            .envs(settings.variables)
            .stdin(Stdio::inherit())
            .kill_on_drop(true);
        let signals = signals::Passed::listen()?;
        let code = match command.spawn() {
            Ok(child) => signals.wait(child).await?,
            Err(error) => {
                let program = cleaned(&program.to_string_lossy());
                output::error(&format!("cannot run `{program}`: {error}"));
                return Ok(if error.kind() == ErrorKind::NotFound {
                    NOT_FOUND
                } else {
                    NOT_EXECUTABLE
                });
            }
        };
        let _ = end.send(());
        let _ = proxy.await;
        if let Ok(passed) = passed.lock() {
            messages.say(&format!("{}\n", told(&passed)));
        }
        Ok(code)
    }
}

/// The exit codes of shells for a program that cannot be run.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// Returns the milliseconds since 1970, which distinguish this run from others.
fn started() -> u128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis())
}

/// Says what a proxy did.
fn told(passed: &Total) -> String {
    if passed.requests == 0 {
        return "baler: no request passed through".to_owned();
    }
    let requests = count(passed.requests, "request");
    let mut told = format!("baler: {requests}");
    if passed.failed > 0 {
        told += &format!(", {} refused or not answered", number(passed.failed as u64));
    }
    let compactions = count(passed.compactions, "compaction");
    let (sent, came) = (number(passed.tokens_sent), number(passed.tokens_came));
    if passed.compactions + passed.shown == 0 {
        told += ", none large enough to compact";
    } else if passed.shadows > 0 {
        told +=
            &format!("; {came} tokens sent, as they came; {compactions} would have made it {sent}");
    } else {
        told += &format!(", {compactions}; {sent} tokens sent, {came} without baler");
    }
    if passed.compactions > 8 && passed.compactions * 3 > passed.requests {
        told += "\nbaler: most requests were compacted: the window is too small for the system prompt and the tools; choose a larger one by --context-window";
    }
    told + "\nbaler: `baler sessions` shows more, and `baler ui` as pages"
}
