//! What `baler.toml` says of a strategy in a registry.

use std::fmt;
use std::str::FromStr;

use semver::{Version, VersionReq};
use serde::{Deserialize, Serialize};

use crate::shown::shown;
use crate::{Digest, Place, PublicKey};

/// A strategy as it is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The name under which it is used.
    pub name: String,
    /// Where it is.
    pub source: Place,
    /// Which version.
    pub requirement: Requirement,
    /// Who must have signed it. If nobody must, [`Unsigned`] decides.
    pub publisher: Option<Publisher>,
}

/// Who signs strategies.
#[derive(Debug, Clone)]
pub struct Publisher {
    /// The name that the user gave them.
    pub name: String,
    /// Their keys: one of them must have signed. There are two while one is replaced.
    pub keys: Vec<PublicKey>,
}

/// What happens with strategies that nobody has to have signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unsigned {
    /// They are refused.
    #[default]
    Refuse,
    /// Those whose digest is in the lock file are used.
    Locked,
}

/// Which versions will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Requirement {
    /// The newest version that this matches. Versions are the tags that are SemVer.
    Version(VersionReq),
    /// The manifest with this digest.
    Digest(Digest),
}

impl Requirement {
    /// Returns whether a manifest and its version will do.
    pub(crate) fn allows(&self, version: Option<&Version>, manifest: Digest) -> bool {
        match self {
            Self::Version(requirement) => {
                version.is_some_and(|version| requirement.matches(version))
            }
            Self::Digest(digest) => *digest == manifest,
        }
    }
}

/// A text is not a requirement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a version requirement such as `^0.1`, or `sha256:` and 64 hex digits, found `{found}`: {problem}"
)]
pub struct RequirementError {
    found: String,
    problem: String,
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        let failed = |problem: String| RequirementError {
            found: shown(text),
            problem,
        };
        if text.starts_with("sha256:") {
            let digest = text.parse();
            return digest
                .map(Self::Digest)
                .map_err(|_| failed("that is no digest".to_owned()));
        }
        let requirement = text.parse();
        requirement
            .map(Self::Version)
            .map_err(|error: semver::Error| failed(error.to_string()))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(requirement) => requirement.fmt(f),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

impl TryFrom<String> for Requirement {
    type Error = RequirementError;

    fn try_from(text: String) -> Result<Self, RequirementError> {
        text.parse()
    }
}

impl From<Requirement> for String {
    fn from(requirement: Requirement) -> Self {
        requirement.to_string()
    }
}
