//! The strategies of `baler.toml` that are in registries: what is wanted of them, and what was pulled.
//!
//! What is locked is in `baler.lock` beside the list, and what was pulled in the folder `strategies` of the state folder.
//! Loading asks no network.

use std::path::{Path, PathBuf};

use baler_files::{Links, open_regular, read_within};
use baler_host::project::{Listed, ListedKey, Project, RegistrySource, Unsigned as Policy};

use crate::{
    Credentials, KeyError, LOCK_FILE, Limits, Lock, LockError, Options, Place, PublicKey,
    Publisher, ReferenceError, RegistryError, RequirementError, ResolveError, Store, StoreError,
    Transport, Unsigned, Wanted,
};

/// Bytes of the file of a key.
const KEY_BYTES: usize = 64 << 10;

/// Why a strategy that is listed in a registry cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The `source` is no reference.
    #[error("the source of `{name}` cannot be used")]
    Place {
        /// The strategy.
        name: String,
        /// What is wrong.
        #[source]
        source: ReferenceError,
    },
    /// The `version` is no requirement.
    #[error("the version of `{name}` cannot be used")]
    Version {
        /// The strategy.
        name: String,
        /// What is wrong.
        #[source]
        source: RequirementError,
    },
    /// A key of the publisher is none.
    #[error("a key of the publisher `{publisher}` cannot be used")]
    Key {
        /// The publisher.
        publisher: String,
        /// What is wrong.
        #[source]
        source: KeyError,
    },
    /// The file of a key cannot be read.
    #[error("cannot read `{}`, a key of the publisher `{publisher}`", path.display())]
    KeyFile {
        /// The publisher.
        publisher: String,
        /// The file.
        path: PathBuf,
        /// Error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The publisher has no key.
    #[error(
        "the publisher `{publisher}` has no keys, so no signature can be theirs: add one to `[publishers.{publisher}]`"
    )]
    NoKey {
        /// The publisher.
        publisher: String,
    },
    /// There is no lock file, or it cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// What was pulled is not what is wanted.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It was not pulled on this machine.
    #[error("`{name}` is locked, and was not pulled on this machine yet: run `baler pull`")]
    NotPulled {
        /// The strategy.
        name: String,
    },
    /// Without a state folder nothing can be pulled.
    #[error("`{name}` is in a registry, and there is no state folder that could hold it: name one")]
    NoState {
        /// The strategy.
        name: String,
    },
}

/// Returns what is wanted of a strategy that is in a registry.
///
/// # Errors
/// Its source, its version or a key of its publisher cannot be used.
pub fn wanted(
    project: &Project,
    name: &str,
    source: &RegistrySource,
) -> Result<Wanted, SourceError> {
    let place = Place::try_from(source.place.clone()).map_err(|source| SourceError::Place {
        name: name.to_owned(),
        source,
    })?;
    let requirement = source.version.parse();
    let requirement = requirement.map_err(|source| SourceError::Version {
        name: name.to_owned(),
        source,
    })?;
    let publisher = source.publisher.as_deref();
    let publisher = publisher.map(|publisher| {
        let keys = project.publisher(publisher).unwrap_or_default();
        self::publisher(publisher, keys)
    });
    Ok(Wanted {
        name: name.to_owned(),
        source: place,
        requirement,
        publisher: publisher.transpose()?,
    })
}

/// Returns a publisher with the keys that a list has of them.
///
/// # Errors
/// A key cannot be used, or there is none.
pub fn publisher(name: &str, keys: &[ListedKey]) -> Result<Publisher, SourceError> {
    if keys.is_empty() {
        return Err(SourceError::NoKey {
            publisher: name.to_owned(),
        });
    }
    let keys = keys.iter().map(|key| {
        let text = match key {
            ListedKey::Text(text) => text.clone(),
            ListedKey::File(path) => read_key(path).map_err(|source| SourceError::KeyFile {
                publisher: name.to_owned(),
                path: path.clone(),
                source,
            })?,
            _ => String::new(),
        };
        text.parse::<PublicKey>()
            .map_err(|source| SourceError::Key {
                publisher: name.to_owned(),
                source,
            })
    });
    Ok(Publisher {
        name: name.to_owned(),
        keys: keys.collect::<Result<_, _>>()?,
    })
}

/// Reads the file of a key.
///
/// # Errors
/// It cannot be read, or is too large for one.
pub fn read_key(path: &Path) -> std::io::Result<String> {
    let file = open_regular(path, Links::Followed, &path.display().to_string())?;
    let file = file.ok_or(std::io::ErrorKind::NotFound)?;
    let bytes = read_within(file, KEY_BYTES)?;
    let bytes = bytes.ok_or_else(|| {
        std::io::Error::other(format!("expected at most {KEY_BYTES} bytes, found more"))
    })?;
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("expected text, found other bytes"))
}

/// Returns what the policy of a list says of strategies that nobody has to have signed.
#[must_use]
pub fn unsigned(project: &Project) -> Unsigned {
    match project.policy().unsigned {
        Policy::Locked => Unsigned::Locked,
        _ => Unsigned::Refuse,
    }
}

/// Returns the lock file of a list, which is beside it.
#[must_use]
pub fn lock_file(project: &Project) -> PathBuf {
    project.file().with_file_name(LOCK_FILE)
}

/// Opens the store of a state folder.
///
/// # Errors
/// It cannot be opened.
pub fn store(state: &Path) -> Result<Store, StoreError> {
    Store::open(&state.join("strategies"))
}

/// Opens a place that is named in a list: the path of a folder starts from that of the list.
///
/// # Errors
/// As [`Transport::open`], or the credentials cannot be read.
pub fn open(
    place: &Place,
    folder: &Path,
    docker: Option<&Path>,
    options: Options,
) -> Result<Transport, RegistryError> {
    let credentials = match (place, docker) {
        (Place::Registry { host, .. }, Some(docker)) => Credentials::of_docker(docker, host)?,
        _ => None,
    };
    let place = match place {
        Place::Layout(path) => Place::Layout(folder.join(path)),
        place => place.clone(),
    };
    Transport::open(&place, options.with_credentials(credentials))
}

/// Returns the component of a listed strategy that is in a registry, as it was pulled: by its lock, with its signature.
///
/// # Errors
/// It is not locked or not pulled, or what is stored is not what is wanted.
pub fn load(
    project: &Project,
    listed: &Listed,
    source: &RegistrySource,
    state: Option<&Path>,
) -> Result<Vec<u8>, SourceError> {
    let name = listed.name();
    let wanted = wanted(project, name, source)?;
    let state = state.ok_or_else(|| SourceError::NoState {
        name: name.to_owned(),
    })?;
    let lock = Lock::read(&lock_file(project))?.unwrap_or_default();
    let entry = lock.entry(name)?;
    let stored = store(state)?.load(entry, &wanted, unsigned(project), &Limits::default())?;
    stored.ok_or_else(|| SourceError::NotPulled {
        name: name.to_owned(),
    })
}
