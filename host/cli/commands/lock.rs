use std::collections::BTreeSet;

use anyhow::anyhow;
use baler_registry::{Entry, Held, Requirement, Wanted};
use clap::Args;

use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::figures::{self, cleaned};
use crate::output::{self, Messages};
use crate::registry::{List, RegistryArguments, refused};

/// Lock the strategies of `baler.toml` that are in registries
///
/// Pulls what is not locked yet, and writes to `baler.lock` what was found: versions, digests, imports and who signed. What
/// is locked stays as it is; `baler update` moves it. The file belongs into version control.
#[derive(Debug, Args)]
#[command(after_help = AFTER_LOCK)]
pub(crate) struct LockCommand {
    /// Change nothing: fail if the lock does not fit the list. For CI
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    registry: RegistryArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// Lock newer versions of strategies that are in registries
///
/// Finds the newest version that each requirement in `baler.toml` allows, checks its signature, and locks it. Says what
/// changed; a new import is a new permission.
#[derive(Debug, Args)]
#[command(after_help = AFTER_UPDATE)]
pub(crate) struct UpdateCommand {
    /// Names of strategies [default: all that are in registries]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    #[command(flatten)]
    registry: RegistryArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// Fetch the strategies that are locked, so that they run without a network
///
/// Fetches exactly what `baler.lock` says, and only what is not in the state folder already.
#[derive(Debug, Args)]
#[command(after_help = AFTER_PULL)]
pub(crate) struct PullCommand {
    #[command(flatten)]
    registry: RegistryArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const AFTER_LOCK: &str = "\
Examples:
  baler lock
  baler lock --check

Exit codes: 0 locked; 1 baler failed; 2 invalid usage, or with --check the lock does not fit the
list; 5 refused: not signed as wanted, not what was locked or promised, or it cannot be fetched.
If it is not 0, the lock was not changed";

const AFTER_UPDATE: &str = "\
Examples:
  baler update
  baler update keep-newest

Exit codes: 0 all are up to date; 1 baler failed; 2 invalid usage; 5 refused: not signed as
wanted, not what was promised, or it cannot be fetched. If it is not 0, the lock was not changed";

const AFTER_PULL: &str = "\
Examples:
  baler pull
  baler pull --state /srv/baler/state

Exit codes: 0 all are there; 1 baler failed; 2 invalid usage, or something is not locked; 5
refused: not what is locked, not signed as wanted, or it cannot be fetched";

impl LockCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let mut list = List::open(&self.sandbox, Messages { quiet: false })?;
        let wanted = list.wanted()?;
        let mut text = String::new();
        for wanted in &wanted {
            if let Ok(entry) = list.lock.entry(&wanted.name) {
                let checked = entry.check(wanted, list.unsigned());
                checked.map_err(Failure::wrong_use)?;
                // What is here already is checked as well, so that a lock that somebody edited is found.
                list.is_stored(entry, wanted)?;
                continue;
            }
            if self.check {
                return Err(Failure::wrong_use(anyhow!(
                    "`{}` is not locked; run `baler lock`, and put `baler.lock` into version control",
                    wanted.name
                )));
            }
            let (entry, _) = list
                .pull(wanted, Held::ToBeLocked, &self.registry, &self.sandbox)
                .await?;
            text.push_str(&format!("locked   {}\n", in_words(&entry)));
            list.lock.insert(entry);
        }
        let names: BTreeSet<&str> = wanted.iter().map(|wanted| wanted.name.as_str()).collect();
        let left: Vec<String> = list
            .lock
            .entries()
            .filter(|entry| !names.contains(entry.name.as_str()))
            .map(|entry| entry.name.clone())
            .collect();
        if self.check {
            if let Some(name) = left.first() {
                return Err(Failure::wrong_use(anyhow!(
                    "`{name}` is locked, and the list no longer has it; run `baler lock`"
                )));
            }
            output::words(&format!(
                "{} locked as listed\n",
                figures::count(wanted.len(), "strategy")
            ))?;
            return Ok(Exit::Done);
        }
        for name in &left {
            text.push_str(&format!("removed  {name}\n"));
        }
        list.lock.retain(|entry| !left.contains(&entry.name));
        if text.is_empty() {
            output::words(&format!(
                "{} locked already\n",
                figures::count(wanted.len(), "strategy")
            ))?;
            return Ok(Exit::Done);
        }
        list.write_lock()?;
        output::words(&text)?;
        Ok(Exit::Done)
    }
}

impl UpdateCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let mut list = List::open(&self.sandbox, Messages { quiet: false })?;
        let all = list.wanted()?;
        for name in &self.names {
            if !all.iter().any(|wanted| wanted.name == *name) {
                return Err(Failure::wrong_use(anyhow!(
                    "`{}` lists no strategy `{}` that is in a registry",
                    list.project.file().display(),
                    cleaned(name)
                )));
            }
        }
        let chosen = |wanted: &&Wanted| self.names.is_empty() || self.names.contains(&wanted.name);
        let mut text = String::new();
        for wanted in all.iter().filter(chosen) {
            let (entry, _) = list
                .pull(wanted, Held::ToBeLocked, &self.registry, &self.sandbox)
                .await?;
            check_newer(list.lock.entry(&wanted.name).ok(), &entry, wanted)?;
            let before = list.lock.insert(entry.clone());
            text.push_str(&change(before.as_ref(), &entry));
        }
        if text.is_empty() {
            text.push_str("no strategy of the list is in a registry\n");
        } else {
            list.write_lock()?;
        }
        output::words(&text)?;
        Ok(Exit::Done)
    }
}

impl PullCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let list = List::open(&self.sandbox, Messages { quiet: false })?;
        let (mut fetched, mut there) = (0, 0);
        for wanted in list.wanted()? {
            let entry = list.lock.entry(&wanted.name).map_err(Failure::wrong_use)?;
            if list.is_stored(entry, &wanted)? {
                there += 1;
                continue;
            }
            let held = Held::Locked(entry);
            list.pull(&wanted, held, &self.registry, &self.sandbox)
                .await?;
            fetched += 1;
        }
        output::words(&format!(
            "{} fetched, {there} there already\n",
            figures::count(fetched, "strategy")
        ))?;
        Ok(Exit::Done)
    }
}

/// Refuses an older version than is locked, if that still fits: a registry may hide newer versions, and old ones may have known
/// faults.
fn check_newer(before: Option<&Entry>, after: &Entry, wanted: &Wanted) -> Result<(), Failure> {
    let versions = before.and_then(|before| before.version.as_ref().zip(after.version.as_ref()));
    match (versions, &wanted.requirement) {
        (Some((before, after)), Requirement::Version(allowed))
            if after < before && allowed.matches(before) =>
        {
            Err(refused(anyhow!(
                "expected version {before} of `{}` or a newer one, which is locked, found {after} as the newest at {}; if you mean it, require `={after}` in the list",
                wanted.name,
                wanted.source
            )))
        }
        _ => Ok(()),
    }
}

/// What is locked, in a line.
fn in_words(entry: &Entry) -> String {
    let version = entry.version.as_ref().map_or_else(
        || entry.manifest.to_string(),
        std::string::ToString::to_string,
    );
    let signed = match &entry.publisher {
        Some(publisher) => format!("signed by `{publisher}`"),
        None => "not signed".to_owned(),
    };
    format!(
        "{} {version}, {signed}, {}",
        entry.name,
        figures::bytes(entry.size)
    )
}

/// What an update changed, with new imports.
fn change(before: Option<&Entry>, after: &Entry) -> String {
    let Some(before) = before else {
        return format!("locked   {}\n", in_words(after));
    };
    if before.digest == after.digest && before.manifest == after.manifest {
        return format!("same     {}\n", in_words(after));
    }
    let from = before.version.as_ref().map_or_else(
        || before.manifest.to_string(),
        std::string::ToString::to_string,
    );
    let mut text = format!("updated  {} (from {from})\n", in_words(after));
    if before.version == after.version {
        text.push_str(&format!(
            "  the same version is another artifact now: its component was {}, and is {}; ask its publisher why\n",
            before.digest, after.digest
        ));
    }
    for import in after
        .imports
        .iter()
        .filter(|import| !before.imports.contains(import))
    {
        text.push_str(&format!("  now imports {}\n", cleaned(import)));
    }
    text
}
