//! From what is wanted to bytes that may be used: version, manifest, signature, component.

use semver::Version;

use crate::artifact::VERSION_ANNOTATION;
use crate::error::RegistryError;
use crate::lock::{Entry, LockError};
use crate::referrers::pull_signatures;
use crate::signature::{SignatureError, verify};
use crate::store::StoreError;
use crate::wanted::{Publisher, Requirement, Unsigned, Wanted};
use crate::{At, Contents, Digest, Manifest, Transport};

/// Maximum number of versions that an error lists.
const SHOWN_VERSIONS: usize = 8;

/// Why a strategy cannot be used. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// It cannot be pulled.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The lock file does not fit.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store cannot be read, or has changed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No version fits.
    #[error("expected a version of {place} that is `{requirement}`, found {found}")]
    NoVersion {
        /// Where it was looked for.
        place: String,
        /// What was wanted.
        requirement: String,
        /// The versions that are there.
        found: String,
    },
    /// The tag is that of one version, and the artifact another, perhaps an older one with known faults.
    #[error(
        "expected version {expected} at the tag `{expected}` of {place}, found a manifest that says it is {found}; ask its publisher"
    )]
    OtherVersion {
        /// Where it is.
        place: String,
        /// The version of the tag.
        expected: Version,
        /// The version of the manifest.
        found: Version,
    },
    /// The manifest does not say its version, so its signature does not bind it to the tag.
    #[error(
        "expected a signed manifest that says it is version {expected} at the tag `{expected}` of {place}, found one that says no version; ask its publisher to push it with `baler push`"
    )]
    NoVersionSaid {
        /// Where it is.
        place: String,
        /// The version of the tag.
        expected: Version,
    },
    /// The registry has another artifact than the locked one.
    #[error(
        "the tag `{tag}` at {place} has changed since it was locked: expected {expected}, found {found}; ask its publisher why, and only then `baler update {name}`"
    )]
    TagMoved {
        /// The strategy.
        name: Box<str>,
        /// Where it is.
        place: Box<str>,
        /// The tag.
        tag: Box<str>,
        /// The digest that is locked.
        expected: Digest,
        /// The digest of what has the tag now.
        found: Digest,
    },
    /// Nobody signed it.
    #[error(
        "expected a signature of `{publisher}` for {manifest}, found none at {place}; ask them to sign it"
    )]
    NotSigned {
        /// Who should have signed.
        publisher: String,
        /// What should have been signed.
        manifest: Digest,
        /// Where the signature should be.
        place: String,
    },
    /// None of its signatures is one of the publisher.
    #[error("no signature of `{publisher}` verifies {manifest}")]
    WronglySigned {
        /// Who should have signed.
        publisher: String,
        /// What should have been signed.
        manifest: Digest,
        /// What is wrong with the first signature.
        #[source]
        source: SignatureError,
    },
    /// Nobody has to have signed it, and the policy refuses that.
    #[error(
        "expected a `publisher` of `{name}`, found none, and the policy `unsigned = \"refuse\"` refuses it: name its publisher and their key"
    )]
    Unsigned {
        /// The strategy.
        name: String,
    },
}

/// What is known of a strategy before it is pulled.
#[derive(Debug, Clone, Copy)]
pub enum Held<'a> {
    /// It is locked, and must be what is locked.
    Locked(&'a Entry),
    /// What is found becomes the new lock: it is added, locked for the first time or upgraded.
    ToBeLocked,
}

/// A signature that was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// Who signed, as the user calls them.
    pub publisher: String,
    /// The name of the key.
    pub key: Digest,
    /// The bundle.
    pub bundle: Vec<u8>,
}

/// A strategy that was pulled. All checks but those of the component itself are done.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pulled {
    /// Its manifest.
    pub manifest: Manifest,
    /// What its manifest says.
    pub contents: Contents,
    /// Its version; none if it was wanted by digest.
    pub version: Option<Version>,
    /// Who signed it; `None` if nobody had to.
    pub signed: Option<Signed>,
    /// The component.
    pub wasm: Vec<u8>,
}

impl Pulled {
    /// Returns its entry in the lock file. The contract and the imports are what the component itself says.
    #[must_use]
    pub fn entry(&self, wanted: &Wanted, contract: String, imports: Vec<String>) -> Entry {
        let signed = self.signed.as_ref();
        Entry {
            name: wanted.name.clone(),
            source: wanted.source.clone(),
            requirement: wanted.requirement.clone(),
            version: self.version.clone(),
            manifest: self.manifest.digest(),
            digest: self.contents.layer.digest,
            size: self.contents.layer.size,
            contract,
            imports,
            publisher: signed.map(|signed| signed.publisher.clone()),
            key: signed.map(|signed| signed.key),
        }
    }
}

/// Finds the version that is wanted, or is locked, checks who signed it, and pulls it.
///
/// # Errors
/// There is none, it is not what is locked, it is not signed as wanted, or it cannot be pulled.
pub async fn resolve(
    from: &Transport,
    wanted: &Wanted,
    unsigned: Unsigned,
    held: Held<'_>,
) -> Result<Pulled, ResolveError> {
    let (version, manifest) = match held {
        Held::Locked(entry) => {
            entry.check(wanted, unsigned)?;
            (entry.version.clone(), locked(from, entry).await?)
        }
        Held::ToBeLocked => find(from, &wanted.requirement).await?,
    };
    let contents = Contents::read(&manifest, from.limits())?;
    check_version(
        from,
        version.as_ref(),
        &contents,
        wanted.publisher.is_some(),
    )?;
    if let Held::Locked(entry) = held {
        entry.check_contents(&contents)?;
    }
    let signed = match (&wanted.publisher, unsigned) {
        (Some(publisher), _) => Some(check_signature(from, &manifest, publisher).await?),
        (None, Unsigned::Refuse) => {
            return Err(ResolveError::Unsigned {
                name: wanted.name.clone(),
            });
        }
        (None, Unsigned::Locked) => None,
    };
    Ok(Pulled {
        wasm: contents.pull(from).await?,
        manifest,
        contents,
        version,
        signed,
    })
}

/// Checks that a publisher signed a manifest. Signatures of others beside theirs do no harm.
///
/// # Errors
/// They did not, or the signatures cannot be pulled.
pub async fn check_signature(
    from: &Transport,
    manifest: &Manifest,
    publisher: &Publisher,
) -> Result<Signed, ResolveError> {
    let bundles = pull_signatures(from, manifest).await?;
    let signed = check_bundles(bundles, manifest, publisher)?;
    signed.ok_or_else(|| ResolveError::NotSigned {
        publisher: publisher.name.clone(),
        manifest: manifest.digest(),
        place: from.place().to_string(),
    })
}

/// Finds the bundle that a publisher signed; `None` if there are no bundles.
pub(crate) fn check_bundles(
    bundles: impl IntoIterator<Item = Vec<u8>>,
    manifest: &Manifest,
    publisher: &Publisher,
) -> Result<Option<Signed>, ResolveError> {
    let mut wrong = None;
    for bundle in bundles {
        match verify(&bundle, manifest.digest(), &publisher.keys) {
            Ok(key) => {
                return Ok(Some(Signed {
                    publisher: publisher.name.clone(),
                    key: key.id(),
                    bundle,
                }));
            }
            Err(error) => wrong = wrong.or(Some(error)),
        }
    }
    wrong.map_or(Ok(None), |source| {
        Err(ResolveError::WronglySigned {
            publisher: publisher.name.clone(),
            manifest: manifest.digest(),
            source,
        })
    })
}

/// Returns the versions at a place: the tags that are SemVer. The newest comes first.
///
/// # Errors
/// The tags cannot be listed.
pub async fn versions(from: &Transport) -> Result<Vec<Version>, RegistryError> {
    let tags = from.tags().await?;
    let versions = tags.iter().filter_map(|tag| Version::parse(tag).ok());
    let mut versions: Vec<_> = versions.collect();
    versions.sort_by(|a, b| b.cmp(a));
    Ok(versions)
}

/// Checks that a manifest is of the version that its tag says, if it says a version: whoever moves tags could otherwise
/// offer an old version, which its publisher did sign, as a new one. So a manifest that has to be signed has to say one.
fn check_version(
    from: &Transport,
    expected: Option<&Version>,
    contents: &Contents,
    is_signed: bool,
) -> Result<(), ResolveError> {
    let said = contents.annotations.get(VERSION_ANNOTATION);
    let found = said.and_then(|said| Version::parse(said).ok());
    match (expected, found) {
        (Some(expected), Some(found)) if *expected != found => Err(ResolveError::OtherVersion {
            place: from.place().to_string(),
            expected: expected.clone(),
            found,
        }),
        (Some(expected), None) if is_signed => Err(ResolveError::NoVersionSaid {
            place: from.place().to_string(),
            expected: expected.clone(),
        }),
        _ => Ok(()),
    }
}

/// Finds what is wanted.
async fn find(
    from: &Transport,
    requirement: &Requirement,
) -> Result<(Option<Version>, Manifest), ResolveError> {
    let wanted = match requirement {
        Requirement::Digest(digest) => {
            return Ok((None, from.manifest(&At::Digest(*digest)).await?));
        }
        Requirement::Version(wanted) => wanted,
    };
    let all = versions(from).await?;
    let Some(version) = all.iter().find(|version| wanted.matches(version)) else {
        let shown = all.iter().take(SHOWN_VERSIONS).map(Version::to_string);
        let shown = shown.collect::<Vec<_>>().join(", ");
        return Err(ResolveError::NoVersion {
            place: from.place().to_string(),
            requirement: requirement.to_string(),
            found: match all.len().saturating_sub(SHOWN_VERSIONS) {
                _ if all.is_empty() => "no tag that is a version".to_owned(),
                0 => shown,
                more => format!("{shown} and {more} older ones"),
            },
        });
    };
    let manifest = from.manifest(&At::Tag(version.to_string())).await?;
    Ok((Some(version.clone()), manifest))
}

/// Returns the manifest that is locked, after a look at whether its tag still means it.
async fn locked(from: &Transport, entry: &Entry) -> Result<Manifest, ResolveError> {
    if let Some(version) = &entry.version {
        let tag = version.to_string();
        if let Some(found) = from.find(&At::Tag(tag.clone())).await? {
            if found.digest() == entry.manifest {
                return Ok(found);
            }
            return Err(ResolveError::TagMoved {
                name: entry.name.as_str().into(),
                place: from.place().to_string().into(),
                tag: tag.into(),
                expected: entry.manifest,
                found: found.digest(),
            });
        }
    }
    // What is locked may be there without its tag.
    Ok(from.manifest(&At::Digest(entry.manifest)).await?)
}
