//! Chooses and opens the archive that options and the environment name.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use baler_host::HostError;
use baler_host::archive::{Archive, ArchiveError, OpenError};
use clap::Args;

use crate::exit::Failure;
use crate::settings::{self, Keeping};

/// The name of the archive's folder in the state folder.
const FOLDER: &str = "archive";

/// The variable that names the archive.
const VARIABLE: &str = "BALER_ARCHIVE";

/// Prefixes of the variables that hold addresses and credentials of stores.
const OF_STORES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// Schemes of store URLs, and common mistakes for them.
const SCHEMES: [&str; 11] = [
    "s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "http", "https", "file",
];

/// Where removed content is archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ArchivePlace {
    Off,
    /// A folder in the state folder.
    State,
    /// A folder or URL.
    Named(String),
}

impl ArchivePlace {
    /// Returns the place of --archive, else that of the environment, else the state folder.
    pub(crate) fn of(typed: Option<&str>) -> Result<Self, Failure> {
        let named = match typed {
            Some(typed) => Some(typed.to_owned()),
            None => variable()?,
        };
        match named {
            None => Ok(Self::State),
            Some(off) if off == "off" => Ok(Self::Off),
            Some(named) => {
                check_place(&named)?;
                Ok(Self::Named(named))
            }
        }
    }

    /// Returns where the host keeps what is removed. Opens the archive that is named.
    pub(crate) fn keeping(&self) -> Result<Keeping, Failure> {
        Ok(match self {
            Self::Off => Keeping::Nowhere,
            Self::State => Keeping::State,
            Self::Named(named) => Keeping::In(open(named)?),
        })
    }

    /// Returns the place for messages; `None` if there is no archive. Bytes that are not UTF-8 are replaced,
    /// so the text must not be used as a path.
    pub(crate) fn shown(&self, state: Option<&Path>) -> Option<String> {
        match self {
            Self::Off => None,
            Self::State => in_state(state).map(|folder| folder.display().to_string()),
            Self::Named(named) => Some(named.clone()),
        }
    }
}

/// Returns the place that the environment names. A name that cannot be read is an error: otherwise removed
/// content would be archived somewhere else.
fn variable() -> Result<Option<String>, Failure> {
    let Some(value) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    value.into_string().map(Some).map_err(|_| {
        Failure::wrong_use(anyhow!(
            "${VARIABLE} is not UTF-8; name a folder or URL that is, or the state folder by --state"
        ))
    })
}

/// Returns the archive's folder in the state folder.
fn in_state(state: Option<&Path>) -> Option<PathBuf> {
    settings::state_folder(state).map(|folder| folder.join(FOLDER))
}

/// Opens the archive with this name. Creates it if it is a folder that does not exist or is empty.
pub(crate) fn open(named: &str) -> Result<Archive, Failure> {
    check_place(named)?;
    let opened = if is_url(named) {
        Archive::at(named, of_stores()?)
    } else {
        Archive::open(named)
    };
    opened.map_err(open_failure)
}

/// Opens the archive with this name, which must exist.
fn open_existing(named: &str) -> Result<Archive, Failure> {
    let opened = if is_url(named) {
        Archive::existing_at(named, of_stores()?)
    } else {
        Archive::open_existing(named)
    };
    opened.map_err(open_failure)
}

fn is_url(named: &str) -> bool {
    named.contains("://")
}

/// Fails for a name that cannot be an archive's, and would become a folder of that name. An archive in
/// memory is for programs that embed baler: here it would end with the run, and the removed content would be
/// lost.
fn check_place(named: &str) -> Result<(), Failure> {
    let wrong = if named.is_empty() {
        anyhow!("`--archive` is empty; expected a folder, or a URL such as s3://bucket/prefix")
    } else if named == "memory:" {
        anyhow!(
            "`memory:` is no place for an archive: what is stored there would be gone when this run ends; name a folder or a store, or `off` where it may be gone (a folder of that name is `./memory:`)"
        )
    } else if named.eq_ignore_ascii_case("off") {
        anyhow!(
            "`{named}` is no place for an archive; expected a folder or a URL, or the word `off` in lower case (a folder of that name is `./{named}`)"
        )
    } else {
        match mistyped(named) {
            Some(wrong) => wrong,
            None => return Ok(()),
        }
    };
    Err(Failure::wrong_use(wrong))
}

/// Returns an error for a name that was probably not meant as a folder, such as a URL without `://`. As a
/// folder it would be created here, and nobody would look for removed content in it. A name that may be a
/// URL is not repeated in the message, since it may hold a secret.
fn mistyped(named: &str) -> Option<anyhow::Error> {
    if named.trim() != named {
        return Some(anyhow!(
            "`--archive` (or ${VARIABLE}) has white space around the name, and that is no place for an archive; leave it out (a folder whose name has some is written as `./NAME/`)"
        ));
    }
    if named.starts_with('~') {
        return Some(anyhow!(
            "`{named}` is no place for an archive: only a shell knows what `~` stands for, and only without quotes; give the whole path (a folder of that name is `./{named}`)"
        ));
    }
    if named.eq_ignore_ascii_case("none") {
        return Some(anyhow!(
            "`{named}` is no place for an archive; expected a folder or a URL, or for `baler compact` the word `off` (a folder of that name is `./{named}`)"
        ));
    }
    let scheme = named.split_once(':').map(|(scheme, _)| scheme)?;
    let is_scheme = SCHEMES.iter().any(|own| scheme.eq_ignore_ascii_case(own));
    (is_scheme && !is_url(named)).then(|| {
        anyhow!(
            "`{scheme}:…` is no place for an archive; a URL has `://` after its scheme, such as s3://bucket/prefix (a folder of that name begins with `./{scheme}:`)"
        )
    })
}

/// Returns the variables of stores. Other variables may hold bytes that are not UTF-8, and are ignored.
fn of_stores() -> Result<Vec<(String, String)>, Failure> {
    let of_stores = env::vars_os().filter_map(|(name, value)| {
        // No store knows a name that is not UTF-8.
        let name = name.into_string().ok()?;
        let upper = name.to_ascii_uppercase();
        let is_of_stores = OF_STORES.iter().any(|start| upper.starts_with(start));
        is_of_stores.then_some((name, value))
    });
    of_stores
        .map(|(name, value)| match value.into_string() {
            Ok(value) => Ok((name, value)),
            // It may be a secret, so it is not shown.
            Err(_) => Err(Failure::wrong_use(anyhow!(
                "the environment variable `{name}` is not UTF-8, so no store can use it; correct or unset it"
            ))),
        })
        .collect()
}

/// Returns the failure of opening an archive: invalid usage if no archive is, or can be, at the named place.
fn open_failure(error: OpenError) -> Failure {
    match error {
        error @ OpenError::NotAnArchive { .. } => {
            Failure::wrong_use(anyhow!("{error}; name another place by --archive"))
        }
        error @ OpenError::NoPlace { .. } => Failure::wrong_use(error),
        error => HostError::from(error).into(),
    }
}

/// Returns the failure of using an open archive: invalid usage if the reference is malformed or nothing is
/// stored under it, otherwise a failure of baler.
pub(crate) fn failure(error: ArchiveError) -> Failure {
    match error {
        ArchiveError::NoReference { .. } | ArchiveError::Missing { .. } => {
            Failure::wrong_use(error)
        }
        error => anyhow::Error::from(error).into(),
    }
}

/// Options that name an existing archive.
#[derive(Debug, Clone, Args)]
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
    /// Returns the arguments that name what these options name.
    #[cfg(feature = "http")]
    pub(crate) fn of(archive: Option<String>, state: Option<PathBuf>) -> Self {
        Self { archive, state }
    }

    /// Returns the folder of --state.
    pub(crate) fn state(&self) -> Option<&Path> {
        self.state.as_deref()
    }

    /// Opens the archive, which must exist.
    pub(crate) fn open(&self) -> Result<Archive, Failure> {
        let nowhere = || {
            Failure::wrong_use(anyhow!(
                "no archive is named: give it by --archive, or name the state folder by --state"
            ))
        };
        match ArchivePlace::of(self.archive.as_deref())? {
            ArchivePlace::Off => Err(nowhere()),
            // A path, whatever it looks like, and of any bytes.
            ArchivePlace::State => {
                let folder = in_state(self.state.as_deref()).ok_or_else(nowhere)?;
                Archive::open_existing(folder).map_err(open_failure)
            }
            ArchivePlace::Named(named) => open_existing(&named),
        }
    }
}
