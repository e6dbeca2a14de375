//! Which archive is meant.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use baler_host::{Archive, ArchiveError, HostError};
use clap::Args;

use crate::exit::Failure;
use crate::settings;

/// The name of the archive's folder in the state folder.
const FOLDER: &str = "archive";

/// Beginnings of the variables that tell where a store is, and how to be let in.
const OF_STORES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// Where what leaves goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ArchivePlace {
    Off,
    /// A folder in the state folder.
    State,
    /// A folder or URL.
    Named(String),
}

impl ArchivePlace {
    /// The place that was typed, else that of the environment, else the state folder.
    pub(crate) fn of(typed: Option<&str>) -> Self {
        let variable = || {
            env::var("BALER_ARCHIVE")
                .ok()
                .filter(|value| !value.is_empty())
        };
        match typed.map(str::to_owned).or_else(variable) {
            None => Self::State,
            Some(off) if off == "off" => Self::Off,
            Some(named) => Self::Named(named),
        }
    }

    /// For people; none where there is none.
    pub(crate) fn shown(&self, state: Option<&Path>) -> Option<String> {
        match self {
            Self::Off => None,
            Self::State => settings::state_folder(state)
                .map(|folder| folder.join(FOLDER).display().to_string()),
            Self::Named(named) => Some(named.clone()),
        }
    }
}

/// The archive called so, made where it is a folder that is not there or empty.
pub(crate) fn open(named: &str) -> Result<Archive, Failure> {
    let opened = if is_url(named) {
        Archive::at(named, of_stores())
    } else {
        Archive::open(named)
    };
    opened.map_err(failure)
}

/// The archive called so, which has to be there: nothing is created.
fn open_existing(named: &str) -> Result<Archive, Failure> {
    let opened = if is_url(named) {
        Archive::existing_at(named, of_stores())
    } else {
        Archive::open_existing(named)
    };
    opened.map_err(failure)
}

fn is_url(named: &str) -> bool {
    named == "memory:" || named.contains("://")
}

fn of_stores() -> impl Iterator<Item = (String, String)> {
    env::vars().filter(|(name, _)| {
        let name = name.to_ascii_uppercase();
        OF_STORES.iter().any(|start| name.starts_with(start))
    })
}

/// Who names a place where no archive is, or can be, uses baler wrongly.
fn failure(error: HostError) -> Failure {
    match error {
        HostError::Archive(error @ ArchiveError::NotAnArchive { .. }) => {
            Failure::wrong_use(anyhow!("{error}; name another place by --archive"))
        }
        HostError::Archive(error @ ArchiveError::NoPlace { .. }) => Failure::wrong_use(error),
        error => error.into(),
    }
}

/// Which archive to look into.
#[derive(Debug, Args)]
pub(crate) struct ArchiveArguments {
    /// The archive: a folder, or a URL such as s3://bucket/prefix [default: $BALER_ARCHIVE, else
    /// the folder `archive` in the state folder]
    #[arg(long, value_name = "DIR|URL")]
    archive: Option<String>,

    /// The state folder [default: $BALER_STATE, else $XDG_STATE_HOME/baler, else
    /// ~/.local/state/baler]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

impl ArchiveArguments {
    /// The archive, which has to be there: nothing is created.
    pub(crate) fn open(&self) -> Result<Archive, Failure> {
        let place = ArchivePlace::of(self.archive.as_deref());
        let named = place.shown(self.state.as_deref()).ok_or_else(|| {
            Failure::wrong_use(anyhow!(
                "no archive is named: give it by --archive, or name the state folder by --state"
            ))
        })?;
        open_existing(&named)
    }
}
