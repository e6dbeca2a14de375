//! Errors of `baler.toml` and of the strategies in it.

use std::io;
use std::path::{Path, PathBuf};

use crate::content_hash::ContentHash;
use crate::strategy::{ConfigError, LoadError};

/// Error of reading `baler.toml`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
    /// Another user could change which strategies run.
    #[error(
        "`{}` {problem}, who could choose which strategies run: make it yours alone, or name another list or none",
        path.display()
    )]
    NotOwned {
        /// The file.
        path: PathBuf,
        /// Who owns it or may write to it.
        problem: String,
    },
    /// A listed strategy has a name that is reserved.
    #[error(
        "`{}` lists a strategy `{name}`, which is the name of one that ships with baler; these names are reserved, in any case of letters, so give it another name",
        path.display()
    )]
    ReservedName {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// What a list says of a strategy in a registry does not fit together.
    #[error("`{}` lists `{name}`, and {problem}", path.display())]
    Registry {
        /// The file.
        path: PathBuf,
        /// Name of the strategy.
        name: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The file is too large.
    #[error("`{}` has more than {limit} bytes, which no list of strategies needs", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Limit in bytes.
        limit: usize,
    },
    /// The file is not UTF-8.
    #[error("`{}` is not UTF-8 text from byte {offset} on", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Offset of the first byte that is not UTF-8.
        offset: usize,
    },
    /// The file is not TOML, or not of this form.
    #[error("`{}` is not valid at line {line}, column {column}: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong there. It may quote the file.
        message: String,
    },
}

/// Error of loading a strategy of `baler.toml`. No code of it ran, unless its config is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListedError {
    /// No strategy of this name is listed.
    #[error("`{}` lists no strategy `{name}`", file.display())]
    Unknown {
        /// The name.
        name: Box<str>,
        /// The file `baler.toml`.
        file: Box<Path>,
    },
    /// The policy requires a digest.
    #[error(
        "`{name}` has no digest, and `{}` requires one: after you checked the file, add `digest = \"{found}\"`",
        file.display()
    )]
    NoDigest {
        /// The name.
        name: Box<str>,
        /// The file `baler.toml`.
        file: Box<Path>,
        /// Hash of the file of the strategy.
        found: ContentHash,
    },
    /// The file of the strategy is another one than was listed.
    #[error(
        "the file of `{name}` has changed: `{}` expects {expected}, and `{}` has {found}; restore the file, or change the digest after you checked the new one",
        file.display(), path.display()
    )]
    Changed {
        /// The name.
        name: Box<str>,
        /// The file `baler.toml`.
        file: Box<Path>,
        /// The file of the strategy.
        path: Box<Path>,
        /// The digest in `baler.toml`.
        expected: ContentHash,
        /// Hash of the file.
        found: ContentHash,
    },
    /// The file of the strategy cannot be read.
    #[error("cannot read `{}`, the file of `{name}`", path.display())]
    Io {
        /// The name.
        name: Box<str>,
        /// The file of the strategy.
        path: Box<Path>,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
    /// The strategy is in a registry, and the program did not take it from where pulled strategies are stored.
    #[error("`{name}` is in a registry (`{place}`), and not in a file: load what was pulled of it")]
    InRegistry {
        /// The name.
        name: Box<str>,
        /// The place.
        place: Box<str>,
    },
    /// The component imports WASI, and the policy refuses that.
    #[error("`{name}` imports WASI, which the policy of `{}` refuses: build it without WASI, or change the policy", file.display())]
    WasiRefused {
        /// The name.
        name: Box<str>,
        /// The file `baler.toml`.
        file: Box<Path>,
    },
    /// The component cannot be loaded.
    #[error("cannot use `{name}`")]
    Load {
        /// The name.
        name: Box<str>,
        /// The error.
        #[source]
        source: Box<LoadError>,
    },
    /// The config in `baler.toml` does not fit the strategy.
    #[error("the config of `{name}` in `{}` does not fit", file.display())]
    Config {
        /// The name.
        name: Box<str>,
        /// The file `baler.toml`.
        file: Box<Path>,
        /// The error.
        #[source]
        source: Box<ConfigError>,
    },
}
