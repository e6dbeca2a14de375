use std::env;

use anyhow::{Context as _, anyhow};
use clap::Args;

use crate::agents::Agent;
use crate::agents::configuration::Change;
use crate::exit::{Exit, Failure};
use crate::output;

/// Give a program the tool for all of its sessions: put `baler mcp` into its own configuration
///
/// Prints the file and the lines that are added. Everything else in the file stays as it is; a file that cannot be changed
/// safely is not touched.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 it is there, 1 baler failed, 2 invalid usage")]
pub(super) struct InstallCommand {
    #[command(flatten)]
    change: ChangeArguments,
}

/// Remove `baler mcp` from a program's configuration
///
/// Prints the file and the lines that are removed. Everything else in the file stays as it is.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 it is not there, 1 baler failed, 2 invalid usage")]
pub(super) struct UninstallCommand {
    #[command(flatten)]
    change: ChangeArguments,
}

#[derive(Debug, Args)]
struct ChangeArguments {
    /// The program
    #[arg(value_name = "PROGRAM")]
    program: Agent,

    /// Show what would change, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

impl InstallCommand {
    pub(super) fn exec(self) -> Result<Exit, Failure> {
        let program = self.change.program;
        let baler = env::current_exe().context("cannot find out where this program is")?;
        let baler = baler.into_os_string().into_string().map_err(|_| {
            Failure::wrong_use(anyhow!(
                "the path of this program is not UTF-8, so no configuration can name it"
            ))
        })?;
        let mut command = vec![baler, "mcp".to_owned()];
        // The tool reads no sessions of OpenCode, only what went through a proxy.
        if program != Agent::Opencode {
            command.extend(["--program", program.command()].map(str::to_owned));
        }
        self.change.exec(Some(&command))
    }
}

impl UninstallCommand {
    pub(super) fn exec(self) -> Result<Exit, Failure> {
        self.change.exec(None)
    }
}

impl ChangeArguments {
    fn exec(self, command: Option<&[String]>) -> Result<Exit, Failure> {
        let change = Change::of(self.program, command)?;
        let Some(shown) = change.shown() else {
            let state = match command {
                Some(_) => "has the server already",
                None => "has no server of baler",
            };
            output::words(&format!("{} {state}\n", change.file()))?;
            return Ok(Exit::Done);
        };
        if !self.dry_run {
            change.make()?;
        }
        output::words(&shown)?;
        Ok(Exit::Done)
    }
}
