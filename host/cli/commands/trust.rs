use std::path::{Path, PathBuf};

use anyhow::anyhow;
use baler_host::project::{FILE_NAME, Project, TrustedLists};
use clap::Args;

use crate::exit::{Exit, Failure};
use crate::figures::cleaned;
use crate::output::{self, Messages};
use crate::{project, settings};

/// Trust a list of strategies, so that all of it counts
///
/// A `baler.toml` that was only found may have come with somebody else's files. Until you trust it, what it forbids
/// counts, and what it allows does not: no grants, no limits above the defaults, no wider policy. Read it first. Trust
/// applies to this file with this content: it ends when the file is changed or moved. A list that is named by
/// --project is trusted for that run.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct TrustCommand {
    /// The list, or its folder [default: the `baler.toml` of the working folder or of the closest folder above it]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// End the trust in the list
    #[arg(long)]
    revoke: bool,

    /// State folder, which keeps what is trusted [default: $BALER_STATE, else $XDG_STATE_HOME/baler, else
    /// ~/.local/state/baler]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  baler trust
  baler trust agent/baler.toml --revoke

Exit codes: 0 done, 1 the state folder cannot be written, 2 invalid usage";

impl TrustCommand {
    pub(crate) fn exec(self) -> Result<Exit, Failure> {
        let state = settings::state_folder(self.state.as_deref()).ok_or_else(|| {
            Failure::wrong_use(anyhow!("no state folder is known; name one by --state"))
        })?;
        let lists = TrustedLists::in_state(&state);
        let file = self.file()?;
        if self.revoke {
            return revoke(&lists, &file);
        }
        let list = Project::read(&file).map_err(Failure::wrong_use)?;
        list.check_names(project::is_reserved)
            .map_err(Failure::wrong_use)?;
        lists.add(&list).map_err(anyhow::Error::from)?;
        output::words(&project::about(&list))?;
        for listed in list.strategies() {
            let Some(path) = listed.path() else {
                continue;
            };
            if !path.is_file() {
                Messages { quiet: false }.warn(&format!(
                    "`{}` cannot run yet: the file `{}` does not exist; put the component there, or correct `source`",
                    listed.name(),
                    cleaned(&path.to_string_lossy())
                ));
            }
            if listed.digest().is_none() && !listed.grants().is_empty() {
                Messages { quiet: false }.warn(&format!(
                    "`{}` has no digest, so whatever file is in its place gets its grants; `baler introspect {}` shows the hash for `digest`",
                    listed.name(),
                    listed.name()
                ));
            }
        }
        Ok(Exit::Done)
    }

    /// Returns the file of the list.
    fn file(&self) -> Result<PathBuf, Failure> {
        match &self.file {
            Some(folder) if folder.is_dir() => Ok(folder.join(FILE_NAME)),
            Some(file) => Ok(file.clone()),
            None => {
                let found = project::found(self.state.as_deref())?.project;
                let found = found.map(|list| list.file().to_owned());
                found.ok_or_else(|| {
                    Failure::wrong_use(anyhow!(
                        "neither the working folder nor a folder above it has a `{FILE_NAME}` that could be trusted; name the file"
                    ))
                })
            }
        }
    }
}

fn revoke(lists: &TrustedLists, file: &Path) -> Result<Exit, Failure> {
    let real = file.canonicalize().map_err(|error| {
        Failure::wrong_use(anyhow!("cannot read `{}`: {error}", file.display()))
    })?;
    let was_trusted = lists.remove(&real).map_err(anyhow::Error::from)?;
    let shown = cleaned(&real.to_string_lossy());
    output::words(&match was_trusted {
        true => format!("`{shown}` is not trusted any more\n"),
        false => format!("`{shown}` was not trusted\n"),
    })?;
    Ok(Exit::Done)
}
