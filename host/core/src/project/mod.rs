//! `baler.toml`: the strategies that a project uses, by name, and what each of them may do.
//!
//! ```toml
//! [strategies.keep-newest]
//! source = { path = "strategies/keep-newest.wasm" }   # relative to this file
//! digest = "sha256:9f2c…"                             # of the .wasm file; another file is refused
//! grant = ["model"]                                   # nothing without this line
//! config = { units = 40 }
//! limits = { memory-mib = 64, timeout-ms = 2000, fuel = 4000000000 }
//!
//! [strategies.window]
//! source = "oci://registry.example/acme/window"       # in a registry; pulled and locked by `baler lock`
//! version = "^0.1"
//! publisher = "acme"                                  # one of its keys must have signed
//!
//! [publishers.acme]
//! keys = ["MFkwEwYHKoZIzj0CAQYI…", { file = "acme.pem" }]
//!
//! [policy]
//! unsigned = "refuse"                                 # strategies of registries without a publisher
//! unlisted = "refuse"                                 # only these strategies and those that ship with baler
//! digests = "required"
//! wasi = "refuse"
//! plans = { rewrite-outputs = false }                 # what plans may do: see `Policy`
//! ```
//!
//! A strategy needs its `source`; every other table and key may be left out. An unknown key is an error.
//!
//! A list that was only found ([`Project::find`]) may have come with somebody else's files. Until its user trusts it
//! ([`TrustedLists`]), it may forbid, but what it allows is withheld: [`Project::settings`] says what it asked for.

mod document;
mod error;
mod file;
mod owner;
mod registry;
mod trust;
mod trusted_lists;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baler_files::{Links, open_regular, read_within};

use document::{Document, Entry};
pub use document::{Grant, Permit, Unsigned, check_name};
pub use error::{ListedError, ProjectError};
pub use registry::{ListedKey, ListedSource, RegistrySource};
pub use trust::{Setting, Trust};
pub use trusted_lists::TrustedLists;

use crate::bounded::bounded;
use crate::content_hash::ContentHash;
use crate::limits::Limits;
use crate::receipt::ProjectUse;
use crate::request::Policy;

/// Name of the file.
pub const FILE_NAME: &str = "baler.toml";

/// Maximum bytes of the file.
const MAX_BYTES: usize = 1 << 20;

/// Maximum bytes of a message about the file, which may quote it.
const MESSAGE_BYTES: usize = 400;

/// The strategies of a project and its policy, as `baler.toml` says.
///
/// ```
/// use baler_host::project::Project;
///
/// let text = "[strategies.keep-newest]\nsource = { path = 'keep-newest.wasm' }";
/// let project = Project::parse(text, "/srv/agent/baler.toml".as_ref())?;
/// let listed = project.strategy("keep-newest").expect("it is listed");
/// assert_eq!(listed.path(), Some(std::path::Path::new("/srv/agent/keep-newest.wasm")));
/// assert!(!listed.may_ask_model());
/// # Ok::<(), baler_host::project::ProjectError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Project {
    file: PathBuf,
    content_hash: ContentHash,
    trust: Trust,
    settings: Vec<Setting>,
    strategies: BTreeMap<String, Listed>,
    publishers: BTreeMap<String, Vec<ListedKey>>,
    policy: ProjectPolicy,
}

/// A strategy in `baler.toml`.
#[derive(Debug, Clone)]
pub struct Listed {
    name: String,
    source: ListedSource,
    digest: Option<ContentHash>,
    grants: Vec<Grant>,
    config: Option<String>,
    limits: document::Limits,
    trust: Trust,
}

/// What [`Project::find`] found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Found {
    /// The list that counts; `None` if there is none.
    pub project: Option<Project>,
    /// Why lists that were closer do not count: somebody else could write them ([`ProjectError::NotOwned`]).
    pub passed_over: Vec<ProjectError>,
}

/// What `baler.toml` allows for all strategies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectPolicy {
    /// Strategies that are files or URLs and are not listed. Default: allowed.
    pub unlisted: Permit,
    /// Listed strategies without a digest. Default: allowed.
    pub without_digest: Permit,
    /// Components that import WASI. Default: allowed.
    pub wasi: Permit,
    /// Strategies of registries that no publisher has to have signed. Default: refused.
    pub unsigned: Unsigned,
    /// What plans may do.
    pub plans: Policy,
}

impl Project {
    /// Reads the `baler.toml` of the folder `start`, or of the closest folder above it that has one: it alone counts,
    /// and not those further up. A list that another user owns or may write does not count, as if it were not there.
    ///
    /// Without trust in it ([`TrustedLists`]), only what the list forbids counts.
    ///
    /// # Errors
    /// The file cannot be read or is not valid.
    pub fn find(start: &Path, trusted: Option<&TrustedLists>) -> Result<Found, ProjectError> {
        let start = std::path::absolute(start).map_err(|source| ProjectError::Io {
            path: start.to_owned(),
            source,
        })?;
        let mut passed_over = Vec::new();
        for folder in start.ancestors() {
            let file = folder.join(FILE_NAME);
            let Ok(entry) = std::fs::symlink_metadata(&file) else {
                continue;
            };
            // Others may have left a link, or a file that this user cannot open: that is no reason to fail.
            let target = std::fs::metadata(&file).ok();
            let mut metadata = [Some(&entry), target.as_ref()].into_iter().flatten();
            let text = match metadata.find_map(owner::who_else_owns) {
                Some(problem) => Err(ProjectError::NotOwned {
                    path: file,
                    problem,
                }),
                None => Text::read(&file),
            };
            match text {
                Ok(text) => {
                    let hash = ContentHash::of(text.text.as_bytes());
                    let trust = trusted.map(|trusted| trusted.trust(&text.file, &hash));
                    let trust = trust.unwrap_or(Trust::Untrusted);
                    return Ok(Found {
                        project: Some(Self::parse_as(&text.text, &text.file, trust)?),
                        passed_over,
                    });
                }
                Err(error @ ProjectError::NotOwned { .. }) => passed_over.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(Found {
            project: None,
            passed_over,
        })
    }

    /// Reads a file in the form of `baler.toml`, which the user named and so trusts.
    ///
    /// # Errors
    /// The file cannot be read or is not valid, or another user owns it or may write to it: whoever writes it
    /// decides which strategies run.
    pub fn read(file: &Path) -> Result<Self, ProjectError> {
        let Text { file, text } = Text::read(file)?;
        Self::parse(&text, &file)
    }

    /// Reads the text of a file that the user trusts. `file` is where it is: paths in it start from its folder.
    ///
    /// # Errors
    /// The text is not TOML, or is not of this form, with the line and column.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ProjectError> {
        Self::parse_as(text, file, Trust::Trusted)
    }

    /// Reads the text of a file as [`Project::parse`] does, with this trust in it.
    ///
    /// # Errors
    /// As [`Project::parse`].
    pub fn parse_as(text: &str, file: &Path, trust: Trust) -> Result<Self, ProjectError> {
        let document: Document = toml::from_str(text).map_err(|error| {
            let (line, column) = place(text, error.span().map_or(0, |span| span.start));
            ProjectError::Invalid {
                path: file.to_owned(),
                line,
                column,
                message: bounded(error.message(), MESSAGE_BYTES),
            }
        })?;
        registry::check(&document, file)?;
        let (document, settings) = trust::reviewed(document, trust);
        let folder = file.parent().unwrap_or(Path::new(""));
        let strategies = document.strategies.into_iter();
        let strategies = strategies
            .map(|(name, entry)| (name.0.clone(), Listed::new(name.0, entry, folder, trust)));
        let publishers = document.publishers.into_iter();
        let publishers = publishers.map(|(name, own)| (name, registry::keys(own.keys, folder)));
        let policy = document.policy;
        Ok(Self {
            file: file.to_owned(),
            content_hash: ContentHash::of(text.as_bytes()),
            trust,
            settings,
            strategies: strategies.collect(),
            publishers: publishers.collect(),
            policy: ProjectPolicy {
                unlisted: policy.unlisted,
                without_digest: policy.digests.permit(),
                wasi: policy.wasi,
                unsigned: policy.unsigned,
                plans: policy.plans,
            },
        })
    }

    /// Checks that no listed strategy has a name that a program reserves for its own strategies.
    ///
    /// # Errors
    /// One has: [`ProjectError::ReservedName`].
    pub fn check_names(&self, is_reserved: impl Fn(&str) -> bool) -> Result<(), ProjectError> {
        let mut names = self.strategies.keys();
        match names.find(|name| is_reserved(name)) {
            None => Ok(()),
            Some(name) => Err(ProjectError::ReservedName {
                path: self.file.clone(),
                name: name.clone(),
            }),
        }
    }

    /// Returns whether the user trusts the list.
    #[must_use]
    pub const fn trust(&self) -> Trust {
        self.trust
    }

    /// Returns the hash of the file.
    #[must_use]
    pub const fn content_hash(&self) -> &ContentHash {
        &self.content_hash
    }

    /// Returns the settings that differ from their defaults, those of strategies by name and then those of the policy.
    /// Those that are withheld are among them.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Returns the settings that are about one of these strategies, or about all.
    pub fn settings_of(&self, strategies: &[&str]) -> impl Iterator<Item = &Setting> {
        let settings = self.settings.iter();
        settings.filter(move |setting| setting.concerns(strategies))
    }

    /// Returns what a receipt says of the list after a compaction that tried these strategies.
    pub(crate) fn use_for(&self, strategies: &[&str]) -> ProjectUse {
        let names = |counts: bool| -> Vec<String> {
            let settings = self.settings_of(strategies);
            let settings = settings.filter(|setting| setting.counts == counts);
            settings.map(|setting| setting.name.clone()).collect()
        };
        ProjectUse {
            content_hash: self.content_hash,
            trusted: self.trust == Trust::Trusted,
            settings: names(true),
            withheld: names(false),
        }
    }

    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the strategy with this name; `None` if none is listed.
    #[must_use]
    pub fn strategy(&self, name: &str) -> Option<&Listed> {
        self.strategies.get(name)
    }

    /// Returns all strategies, by name.
    pub fn strategies(&self) -> impl ExactSizeIterator<Item = &Listed> {
        self.strategies.values()
    }

    /// Returns the keys of a publisher; `None` if it is not listed.
    #[must_use]
    pub fn publisher(&self, name: &str) -> Option<&[ListedKey]> {
        self.publishers.get(name).map(Vec::as_slice)
    }

    /// Returns what the file allows for all strategies.
    #[must_use]
    pub const fn policy(&self) -> &ProjectPolicy {
        &self.policy
    }
}

/// The text of a list, and its path without links.
struct Text {
    file: PathBuf,
    text: String,
}

impl Text {
    fn read(file: &Path) -> Result<Self, ProjectError> {
        let cannot_read = |source| ProjectError::Io {
            path: file.to_owned(),
            source,
        };
        // Paths in the file start from where it is, whoever made a link to it.
        let real = file.canonicalize().map_err(cannot_read)?;
        let file = real.as_path();
        let cannot_read = |source| ProjectError::Io {
            path: file.to_owned(),
            source,
        };
        let shown = file.display().to_string();
        let open = open_regular(file, Links::Followed, &shown).map_err(cannot_read)?;
        let open = open.ok_or_else(|| cannot_read(std::io::ErrorKind::NotFound.into()))?;
        let metadata = open.metadata().map_err(cannot_read)?;
        let folder = file.parent().map(std::fs::metadata).transpose();
        let folder = folder.map_err(cannot_read)?;
        if let Some(problem) = owner::who_else_writes(&metadata, folder.as_ref()) {
            return Err(ProjectError::NotOwned {
                path: file.to_owned(),
                problem,
            });
        }
        let bytes = read_within(open, MAX_BYTES).map_err(cannot_read)?;
        let bytes = bytes.ok_or_else(|| ProjectError::TooLarge {
            path: file.to_owned(),
            limit: MAX_BYTES,
        })?;
        let text = String::from_utf8(bytes).map_err(|error| ProjectError::NotUtf8 {
            path: file.to_owned(),
            offset: error.utf8_error().valid_up_to(),
        })?;
        Ok(Self { file: real, text })
    }
}

/// Returns the line and the column of an offset, from 1.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let lines = before.matches('\n').count();
    (lines + 1, before[line..].chars().count() + 1)
}

impl Listed {
    fn new(name: String, entry: Entry, folder: &Path, trust: Trust) -> Self {
        Self {
            name,
            trust,
            source: ListedSource::of(&entry, folder),
            digest: entry.digest.map(|digest| digest.0),
            grants: entry.grant,
            config: entry.config.map(|config| config.0),
            limits: entry.limits,
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where the strategy is.
    #[must_use]
    pub const fn source(&self) -> &ListedSource {
        &self.source
    }

    /// Returns the path of the `.wasm` file; `None` if the strategy is in a registry.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            ListedSource::File(path) => Some(path),
            ListedSource::Registry(_) => None,
        }
    }

    /// Returns the hash that the file must have; `None` if any will do.
    #[must_use]
    pub const fn digest(&self) -> Option<&ContentHash> {
        self.digest.as_ref()
    }

    /// Returns whether the strategy may ask a model, if there is one.
    #[must_use]
    pub fn may_ask_model(&self) -> bool {
        self.grants.contains(&Grant::Model)
    }

    /// Returns what the strategy is granted beyond reading the conversation, counting tokens and logging.
    #[must_use]
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Returns whether the user trusts the list. Without trust, it grants nothing.
    #[must_use]
    pub const fn trust(&self) -> Trust {
        self.trust
    }

    /// Returns the config as JSON text; `None` if it has none.
    #[must_use]
    pub fn config(&self) -> Option<&str> {
        self.config.as_deref()
    }

    /// Returns `base` with the limits that the file sets.
    #[must_use]
    pub fn limits(&self, base: Limits) -> Limits {
        self.limits.over(base)
    }
}

#[cfg(test)]
mod tests;
