use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use baler_host::strategy::{CodeSize, CompiledCode, EngineLimits};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::{figures, output, settings};

/// Show the cache of compiled strategies, or clear it
///
/// A strategy is compiled when it is used for the first time, which takes seconds for one in Go, JavaScript or
/// Python. The compiled code is kept in the state folder. Code that was not used for the longest
/// time makes room for new code. Clearing it costs nothing but that time.
#[derive(Debug, Args)]
#[command(after_help = AFTER, args_conflicts_with_subcommands = true)]
pub(crate) struct CacheCommand {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    shown: Shown,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Remove all compiled code
    ///
    /// Other programs may use the cache meanwhile: they compile again what they need.
    Clear(Shown),
}

#[derive(Debug, Args)]
struct Shown {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// State folder [default: $BALER_STATE, else $XDG_STATE_HOME/baler, else ~/.local/state/baler]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  baler cache
  baler cache clear

Exit codes: 0 done, 1 the cache cannot be read or cleared, 2 invalid usage";

impl CacheCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        match self.command {
            None => self.shown.show("", CompiledCode::size, "read"),
            Some(Command::Clear(shown)) => shown.show("cleared: ", CompiledCode::clear, "clear"),
        }
    }
}

impl Shown {
    fn show(
        &self,
        verb: &str,
        work: impl FnOnce(&CompiledCode) -> std::io::Result<CodeSize>,
        what: &str,
    ) -> Result<Exit, Failure> {
        let state = settings::state_folder(self.state.as_deref()).ok_or_else(|| {
            Failure::wrong_use(anyhow!("no state folder is known; name one by --state"))
        })?;
        let code = CompiledCode::in_state(&state);
        let folder = code.folder().display().to_string();
        let size = work(&code).with_context(|| format!("cannot {what} `{folder}`"))?;
        let limit = EngineLimits::default().cache_bytes;
        if self.json {
            let value = json!({"folder": folder, "entries": size.entries, "bytes": size.bytes, "limit": limit});
            output::document(&[&format!("{value:#}\n")])?;
        } else {
            output::words(&format!(
                "{}\n{verb}{} in {}; the limit is {}\n",
                figures::cleaned(&folder),
                figures::bytes(size.bytes),
                figures::count(size.entries, "compiled strategy"),
                figures::bytes(limit)
            ))?;
        }
        Ok(Exit::Done)
    }
}
