use std::env;

use anyhow::{Context as _, anyhow};
use baler_proxy::Sessions;
use clap::{Args, Subcommand};
use rmcp::service::ServiceExt as _;

use super::mcp_install::{InstallCommand, UninstallCommand};
use crate::agents::Agent;
use crate::agents::session_log::SessionLog;
use crate::archive::ArchiveArguments;
use crate::exit::{Exit, Failure};
use crate::retrieval::RetrieveServer;
use crate::settings;

/// Let an agent's model retrieve what was removed from its session, as a tool by the Model Context Protocol
///
/// Speaks MCP on standard input and output. The tool `retrieve` returns removed messages by their reference, or searches
/// those of the session. `baler run` gives it to Claude Code, Codex and OpenCode by itself, for their own session.
/// With --program no proxy is needed: what the program itself compacted away is still in its log.
#[derive(Debug, Args)]
#[command(after_help = AFTER, args_conflicts_with_subcommands = true)]
pub(crate) struct McpCommand {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    serve: ServeArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    Install(InstallCommand),
    Uninstall(UninstallCommand),
}

#[derive(Debug, Args)]
struct ServeArguments {
    /// The run of `baler run` whose sessions are searched [default: the session with the newest request]
    #[arg(long, value_name = "ID")]
    run: Option<String>,

    /// Search what this program compacted away itself: claude, codex or gemini, by the log of its newest session in the
    /// working folder. References of a proxy are found, too
    #[arg(long, value_name = "PROGRAM", conflicts_with = "run")]
    program: Option<Agent>,

    #[command(flatten)]
    archive: ArchiveArguments,
}

const AFTER: &str = "\
Examples:
  baler mcp install claude        # writes `baler mcp --program claude` into its configuration
  claude mcp add baler -- baler mcp        # for Claude Code behind `baler proxy`

Exit codes: 0 the agent has ended, 1 baler failed, 2 invalid usage";

impl McpCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        match self.command {
            None => self.serve.exec().await,
            Some(Command::Install(command)) => command.exec(),
            Some(Command::Uninstall(command)) => command.exec(),
        }
    }
}

impl ServeArguments {
    async fn exec(self) -> Result<Exit, Failure> {
        let state = settings::state_folder(self.archive.state());
        let sessions = state.map(|state| Sessions::open(state.join("sessions")));
        let log = match self.program {
            Some(program) => {
                let folder = env::current_dir().context("cannot find out the working folder")?;
                Some(SessionLog::of(program, folder)?)
            }
            None => None,
        };
        let server = RetrieveServer {
            archive: self.archive,
            sessions: sessions.transpose().map_err(anyhow::Error::from)?,
            run: self.run,
            log,
        };
        let service = server
            .serve(rmcp::transport::io::stdio())
            .await
            .map_err(|error| anyhow!("the agent does not speak MCP: {error}"))?;
        service
            .waiting()
            .await
            .context("the connection to the agent broke")?;
        Ok(Exit::Done)
    }
}
