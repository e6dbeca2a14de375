//! References to artifacts: `oci://HOST[:PORT]/REPOSITORY[:TAG][@DIGEST]` and `oci-layout:PATH[:TAG][@DIGEST]`.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Digest;
use crate::shown::shown;

/// Where an artifact is, and which it is there.
///
/// ```
/// use baler_registry::{At, Reference};
///
/// let reference: Reference = "oci://registry.example:5000/acme/keep-newest:0.1.3".parse()?;
/// assert_eq!(reference.place.to_string(), "oci://registry.example:5000/acme/keep-newest");
/// assert_eq!(reference.at(), Some(At::Tag("0.1.3".into())));
/// # Ok::<(), baler_registry::ReferenceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The place.
    pub place: Place,
    /// The tag, if one is named.
    pub tag: Option<String>,
    /// The digest of the manifest, if it is named.
    pub digest: Option<Digest>,
}

/// A place that holds artifacts: the `source` in `baler.toml` and `baler.lock`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Place {
    /// A repository of a registry.
    Registry {
        /// Host, with a port if it has one.
        host: String,
        /// Path of the repository.
        repository: String,
    },
    /// An OCI image layout: a folder, as `skopeo copy … oci:FOLDER` makes it.
    Layout(PathBuf),
}

/// Which manifest of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// The one that has this tag now.
    Tag(String),
    /// The one with this digest.
    Digest(Digest),
}

/// A text is not a reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected `oci://HOST[:PORT]/REPOSITORY[:TAG][@sha256:…]` or `oci-layout:PATH[:TAG][@sha256:…]`, found `{found}`: {problem}"
)]
pub struct ReferenceError {
    found: String,
    problem: &'static str,
}

impl Reference {
    /// Returns which manifest is meant: that with the digest, if one is named. `None` if neither a tag nor a digest is.
    #[must_use]
    pub fn at(&self) -> Option<At> {
        let tag = || self.tag.clone().map(At::Tag);
        self.digest.map(At::Digest).or_else(tag)
    }
}

impl Place {
    /// Returns whether `host` is this machine, so that nobody else sees what is sent there.
    pub(crate) fn is_loopback(host: &str) -> bool {
        let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => host.split_once(':').map_or(host, |(name, _)| name),
        };
        let is_loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
        name == "localhost" || name.parse().is_ok_and(is_loopback)
    }
}

impl TryFrom<String> for Place {
    type Error = ReferenceError;

    fn try_from(text: String) -> Result<Self, ReferenceError> {
        let reference: Reference = text.parse()?;
        match reference.at() {
            None => Ok(reference.place),
            Some(_) => Err(ReferenceError {
                found: shown(&text),
                problem: "a place has neither a tag nor a digest; say which version otherwise",
            }),
        }
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        place.to_string()
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let fail = |problem| ReferenceError {
            found: shown(text),
            problem,
        };
        let (rest, digest) = match text.split_once("@sha256:") {
            Some((rest, _)) => {
                let digest = text[rest.len() + 1..].parse();
                let bad = "a digest is `sha256:` and 64 lowercase hex digits";
                (rest, Some(digest.map_err(|_| fail(bad))?))
            }
            None => (text, None),
        };
        // A colon belongs to a tag only after the last slash: before it, it is that of a port or a drive.
        let (rest, tag) = match rest.rsplit_once(':') {
            Some((before, tag)) if !tag.contains(['/', '\\']) && before.contains([':', '/']) => {
                (before, Some(tag))
            }
            _ => (rest, None),
        };
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(fail(
                "a tag has 1 to 128 letters, digits, `_`, `.` and `-`, and begins with a letter, a digit or `_`",
            ));
        }
        let place = if let Some(path) = rest.strip_prefix("oci-layout:") {
            if path.is_empty() {
                return Err(fail("it names no folder"));
            }
            Place::Layout(path.into())
        } else if let Some(name) = rest.strip_prefix("oci://") {
            let (host, repository) = name
                .split_once('/')
                .ok_or_else(|| fail("it names no repository"))?;
            if !is_host(host) {
                return Err(fail("that is no host"));
            }
            if !is_repository(repository) {
                return Err(fail(
                    "a repository has lowercase letters, digits, `.`, `_` and `-` between its slashes",
                ));
            }
            Place::Registry {
                host: host.to_ascii_lowercase(),
                repository: repository.to_owned(),
            }
        } else {
            return Err(fail("it begins otherwise"));
        };
        Ok(Self {
            place,
            tag: tag.map(str::to_owned),
            digest,
        })
    }
}

/// Returns whether a text can be a tag.
pub(crate) fn is_tag(tag: &str) -> bool {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=128).contains(&tag.len()) && tag.chars().all(is_fit) && !tag.starts_with(['.', '-'])
}

fn is_host(host: &str) -> bool {
    let port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    if let Some((address, after)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let is_address = address.parse::<std::net::Ipv6Addr>().is_ok();
        return is_address && (after.is_empty() || after.strip_prefix(':').is_some_and(port));
    }
    let (name, has_port) = match host.split_once(':') {
        Some((name, digits)) => (name, port(digits)),
        None => (host, true),
    };
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    has_port && name.chars().all(is_fit) && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

fn is_repository(repository: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_fit = |c: char| is_end(c) || matches!(c, '.' | '_' | '-');
    let is_part = |part: &str| {
        part.starts_with(is_end)
            && part.ends_with(is_end)
            && part.chars().all(is_fit)
            && !part.contains("..")
    };
    repository.len() <= 255 && repository.split('/').all(is_part)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry { host, repository } => write!(f, "oci://{host}/{repository}"),
            Self::Layout(path) => write!(f, "oci-layout:{}", path.display()),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        match self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_they_are_written() {
        let digest = Digest::of(b"");
        let tagged = |place: &str, tag: Option<&str>, digest: Option<Digest>| {
            let digest = digest.map(|digest| format!("@{digest}"));
            let tag = tag.map(|tag| format!(":{tag}"));
            format!(
                "{place}{}{}",
                tag.unwrap_or_default(),
                digest.unwrap_or_default()
            )
        };
        for place in [
            "oci://registry.example/acme/keep-newest",
            "oci://registry.example:5000/acme",
            "oci://127.0.0.1:5000/a/b/c",
            "oci://[::1]:5000/a",
            "oci://[::1]/a",
            "oci-layout:folder",
            "oci-layout:/srv/a folder/layout",
            r"oci-layout:C:\layouts\acme",
        ] {
            for tag in [None, Some("0.1.3"), Some("latest")] {
                for digest in [None, Some(digest)] {
                    let text = tagged(place, tag, digest);
                    let read: Reference = text.parse().unwrap();
                    assert_eq!(read.to_string(), text);
                    assert_eq!(read.place.to_string(), place);
                    assert_eq!((read.tag.as_deref(), read.digest), (tag, digest), "{text}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_reference_is_refused_with_the_reason() {
        for (text, problem) in [
            ("registry.example/acme", "begins otherwise"),
            ("https://registry.example/acme", "begins otherwise"),
            ("oci://registry.example", "no repository"),
            ("oci://user:password@registry.example/acme", "no host"),
            ("oci:///acme", "no host"),
            ("oci://host:0/acme", "no host"),
            ("oci://host/", "a repository has"),
            ("oci://host/Acme", "a repository has"),
            ("oci://host/../v2", "a repository has"),
            ("oci://host/a/../b", "a repository has"),
            ("oci://host/a?x=1", "a repository has"),
            ("oci://host/a:.b", "a tag has"),
            ("oci://host/a:1.0.0+build", "a tag has"),
            ("oci://host/a:", "a tag has"),
            ("oci://host/a@sha256:12", "a digest is"),
            ("oci-layout:", "no folder"),
        ] {
            let error = text.parse::<Reference>().unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
            assert!(error.contains(text), "{text}: {error}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for host in [
            "localhost:5000",
            "127.0.0.1",
            "127.9.0.1:80",
            "[::1]:5000",
            "[::1]",
        ] {
            assert!(Place::is_loopback(host), "{host}");
        }
        for host in [
            "localhost.example",
            "128.0.0.1:5000",
            "[::2]:80",
            "registry.example:80",
        ] {
            assert!(!Place::is_loopback(host), "{host}");
        }
    }
}
