//! `baler.lock`: which artifacts the strategies of `baler.toml` are, to be checked in beside it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baler_files::{FileError, Links};

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::file::{self, Readers};
use crate::shown::shown;
use crate::wanted::{Requirement, Unsigned, Wanted};
use crate::{Contents, Digest, Place, Publisher, VERSION_ANNOTATION};

/// Name of the file.
pub const LOCK_FILE: &str = "baler.lock";

/// The form of the file that this program reads and writes.
const VERSION: u32 = 1;
/// Maximum bytes of the file.
const MAX_BYTES: usize = 1 << 20;
const HEADER: &str = "# Written by `baler lock`, to be checked in. Do not edit it by hand.\n";

/// Why a lock file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file does not have the form of a lock file.
    #[error(
        "expected a lock file of version {VERSION} at `{}`, found {found}; restore it, or remove it and run `baler lock`",
        path.display()
    )]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong. It may quote the file.
        found: String,
    },
    /// A strategy is not locked.
    #[error("expected `{name}` in the lock file, found no such entry; run `baler lock`")]
    NotLocked {
        /// The strategy.
        name: String,
    },
    /// The locked manifest is not that of the locked component.
    #[error(
        "the lock file contradicts itself: expected the component {expected} of {expected_size} bytes in the manifest {manifest}, found {found} of {found_size} bytes; restore the file"
    )]
    Contradiction {
        /// The manifest.
        manifest: Digest,
        /// The component that is locked.
        expected: Digest,
        /// Its length.
        expected_size: u64,
        /// The component of the manifest.
        found: Digest,
        /// Its length.
        found_size: u64,
    },
    /// The locked manifest is that of another version.
    #[error(
        "the lock file contradicts itself: expected version {expected} of `{name}`, found a manifest that says it is {found}; restore the file"
    )]
    OtherVersion {
        /// The strategy.
        name: String,
        /// The version that is locked.
        expected: Version,
        /// The version of the manifest.
        found: Version,
    },
    /// A strategy is locked as something else than what is wanted now.
    #[error(
        "the lock file no longer fits the {what} of `{name}`: expected {expected}, found {found}; `baler update {name}` locks it anew"
    )]
    Outdated {
        /// The strategy.
        name: String,
        /// What does not fit.
        what: &'static str,
        /// What is wanted.
        expected: String,
        /// What is locked.
        found: String,
    },
}

/// A locked strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name in `baler.toml`.
    pub name: String,
    /// Where it is.
    pub source: Place,
    /// Which versions were wanted.
    pub requirement: Requirement,
    /// The version that was found; none if a digest was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Digest of the manifest: what is pulled, and what was signed.
    pub manifest: Digest,
    /// Digest of the component: what is loaded.
    pub digest: Digest,
    /// Length of the component in bytes.
    pub size: u64,
    /// The contract of the component.
    pub contract: String,
    /// What the component imports. A new import is a new permission, which a review of this file shows.
    pub imports: Vec<String>,
    /// Who signed it, if somebody had to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// The name of the key that verified the signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Digest>,
}

impl Entry {
    /// Checks that the entry still is what is wanted, without a network: the source, the requirement, and that the key
    /// which verified the signature is still one of the publisher's.
    ///
    /// # Errors
    /// It is not: [`LockError::Outdated`].
    pub fn check(&self, wanted: &Wanted, unsigned: Unsigned) -> Result<(), LockError> {
        let outdated = |what, expected: String, found: String| {
            Err(LockError::Outdated {
                name: wanted.name.clone(),
                what,
                expected,
                found,
            })
        };
        if self.source != wanted.source {
            return outdated("source", wanted.source.to_string(), self.source.to_string());
        }
        if !wanted
            .requirement
            .allows(self.version.as_ref(), self.manifest)
        {
            let version = self.version.as_ref().map(Version::to_string);
            let found = version.unwrap_or_else(|| self.manifest.to_string());
            return outdated("version", wanted.requirement.to_string(), found);
        }
        let signed = || match (&self.publisher, self.key) {
            (Some(publisher), Some(key)) => format!("a signature of `{publisher}` by {key}"),
            _ => "no signature".to_owned(),
        };
        match &wanted.publisher {
            Some(publisher) if !self.is_signed_by(publisher) => {
                let keys = publisher.keys.iter().map(|key| key.id().to_string());
                let keys = keys.collect::<Vec<_>>().join(" or ");
                let expected = format!("a signature of `{}` by {keys}", publisher.name);
                outdated("publisher", expected, signed())
            }
            None if unsigned == Unsigned::Refuse => {
                let expected = "a `publisher`, because the policy refuses strategies without one";
                outdated("publisher", expected.to_owned(), signed())
            }
            _ => Ok(()),
        }
    }

    /// Checks that a manifest names the component that is locked.
    pub(crate) fn check_contents(&self, contents: &Contents) -> Result<(), LockError> {
        let layer = &contents.layer;
        let said = contents.annotations.get(VERSION_ANNOTATION);
        let said = said.and_then(|said| Version::parse(said).ok());
        if let (Some(locked), Some(found)) = (&self.version, said)
            && *locked != found
        {
            return Err(LockError::OtherVersion {
                name: self.name.clone(),
                expected: locked.clone(),
                found,
            });
        }
        if (layer.digest, layer.size) == (self.digest, self.size) {
            return Ok(());
        }
        Err(LockError::Contradiction {
            manifest: self.manifest,
            expected: self.digest,
            expected_size: self.size,
            found: layer.digest,
            found_size: layer.size,
        })
    }

    fn is_signed_by(&self, publisher: &Publisher) -> bool {
        let mut keys = publisher.keys.iter().map(|key| Some(key.id()));
        self.publisher.as_deref() == Some(&publisher.name) && keys.any(|key| key == self.key)
    }
}

/// A lock file. Its entries are sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    entries: BTreeMap<String, Entry>,
}

/// The form of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    strategy: Vec<Entry>,
}

impl Lock {
    /// Reads a lock file; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read, is of another version, or has unknown keys.
    pub fn read(path: &Path) -> Result<Option<Self>, LockError> {
        let invalid = |found: &str| LockError::Invalid {
            path: path.to_owned(),
            found: shown(found),
        };
        let too_large = || invalid(&format!("more than {MAX_BYTES} bytes"));
        let content = file::read(path, MAX_BYTES, Links::Followed, too_large)?;
        let Some(content) = content else {
            return Ok(None);
        };
        let text = String::from_utf8(content).map_err(|error| invalid(&error.to_string()))?;
        // Another version may have other keys.
        let bad = |error: toml::de::Error| {
            let before = &text[..error.span().map_or(0, |span| span.start)];
            let line = before.matches('\n').count() + 1;
            invalid(&format!("at line {line}: {}", error.message()))
        };
        let version = toml::from_str::<toml::Table>(&text)
            .map_err(bad)?
            .remove("version");
        if version != Some(toml::Value::Integer(VERSION.into())) {
            return Err(invalid(&match version {
                Some(version) => format!("version {version}, perhaps of a newer baler"),
                None => "no version".to_owned(),
            }));
        }
        let document: Document = toml::from_str(&text).map_err(bad)?;
        let mut lock = Self::default();
        for entry in document.strategy {
            if entry.publisher.is_some() != entry.key.is_some() {
                let name = &entry.name;
                return Err(invalid(&format!(
                    "`{name}` with only one of `publisher` and `key`"
                )));
            }
            if let Some(twice) = lock.insert(entry) {
                return Err(invalid(&format!("two entries `{}`", twice.name)));
            }
        }
        Ok(Some(lock))
    }

    /// Returns the entry of a strategy.
    ///
    /// # Errors
    /// There is none: [`LockError::NotLocked`].
    pub fn entry(&self, name: &str) -> Result<&Entry, LockError> {
        self.entries.get(name).ok_or_else(|| LockError::NotLocked {
            name: name.to_owned(),
        })
    }

    /// Returns all entries, by name.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.values()
    }

    /// Adds an entry, or replaces that of the same name, which is returned.
    pub fn insert(&mut self, entry: Entry) -> Option<Entry> {
        self.entries.insert(entry.name.clone(), entry)
    }

    /// Keeps only entries of which `is_wanted` says so.
    pub fn retain(&mut self, is_wanted: impl Fn(&Entry) -> bool) {
        self.entries.retain(|_, entry| is_wanted(entry));
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), LockError> {
        let document = Document {
            version: VERSION,
            strategy: self.entries.values().cloned().collect(),
        };
        let text = toml::to_string(&document).map_err(std::io::Error::other);
        let text = text.map_err(file::failed("write", path))?;
        let content = format!("{HEADER}{text}");
        Ok(file::write(path, content.as_bytes(), Readers::Everybody)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::SigningKey;

    fn entry(name: &str, publisher: Option<&Publisher>) -> Entry {
        Entry {
            name: name.into(),
            source: Place::try_from("oci://registry.example/acme/keep-newest".to_owned()).unwrap(),
            requirement: "^0.1".parse().unwrap(),
            version: Some("0.1.3".parse().unwrap()),
            manifest: Digest::of(b"manifest"),
            digest: Digest::of(b"wasm"),
            size: 4,
            contract: "baler:compaction@0.1.0".into(),
            imports: vec!["baler:compaction/history@0.1.0".into()],
            publisher: publisher.map(|publisher| publisher.name.clone()),
            key: publisher.map(|publisher| publisher.keys[0].id()),
        }
    }

    fn publisher() -> Publisher {
        Publisher {
            name: "acme".into(),
            keys: vec![SigningKey::generate().unwrap().public_key().clone()],
        }
    }

    #[test]
    fn the_file_is_sorted_and_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE);
        assert_eq!(Lock::read(&path).unwrap(), None);
        let mut lock = Lock::default();
        lock.insert(entry("b", Some(&publisher())));
        lock.insert(Entry {
            requirement: Requirement::Digest(Digest::of(b"manifest")),
            version: None,
            ..entry("a", None)
        });
        lock.write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let (manifest, digest) = (Digest::of(b"manifest"), Digest::of(b"wasm"));
        let first = format!(
            "{HEADER}version = 1\n\n[[strategy]]\nname = \"a\"\nsource = \"oci://registry.example/acme/keep-newest\"\n\
             requirement = \"{manifest}\"\nmanifest = \"{manifest}\"\ndigest = \"{digest}\"\nsize = 4\n\
             contract = \"baler:compaction@0.1.0\"\nimports = [\"baler:compaction/history@0.1.0\"]\n\n[[strategy]]\nname = \"b\"\n"
        );
        assert!(text.starts_with(&first), "{text}");
        let second = "requirement = \"^0.1\"\nversion = \"0.1.3\"\n";
        assert!(text.contains(second), "{text}");
        assert_eq!(Lock::read(&path).unwrap().unwrap(), lock);
    }

    #[test]
    fn files_of_another_form_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE);
        let mut lock = Lock::default();
        lock.insert(entry("a", Some(&publisher())));
        lock.write(&path).unwrap();
        let good = fs::read_to_string(&path).unwrap();
        let table = good.find("[[strategy]]").unwrap();
        for (text, found) in [
            (
                good.replace("version = 1\n", "version = 2\nnew = 1\n"),
                "version 2",
            ),
            (good.replace("version = 1\n", ""), "no version"),
            (
                good.replace("version = 1\n", "version = 1\nnew = 1\n"),
                "unknown field `new`",
            ),
            (format!("{good}new = 1\n"), "line 16: unknown field `new`"),
            (format!("{good}{}", &good[table..]), "two entries `a`"),
            (good.replace("key = ", "# "), "only one of"),
            (good.replace("sha256:", "md5:"), "64"),
            (good.replace("oci://", "https://"), "https://"),
            (good.replace("size = 4", "size = -4"), "-4"),
            ("[".into(), "line 1"),
        ] {
            fs::write(&path, text).unwrap();
            let error = Lock::read(&path).unwrap_err().to_string();
            assert!(error.contains(found), "{found}: {error}");
            assert!(
                error.contains("version 1") && error.contains(LOCK_FILE),
                "{error}"
            );
        }
    }

    #[test]
    fn an_entry_that_is_no_longer_wanted_is_outdated() {
        let (acme, other) = (publisher(), publisher());
        let signed = entry("a", Some(&acme));
        let wanted = Wanted {
            name: "a".into(),
            source: signed.source.clone(),
            requirement: signed.requirement.clone(),
            publisher: Some(acme.clone()),
        };
        signed.check(&wanted, Unsigned::Refuse).unwrap();
        let pinned = Requirement::Digest(signed.manifest);
        let pinned = Wanted {
            requirement: pinned,
            ..wanted.clone()
        };
        signed.check(&pinned, Unsigned::Refuse).unwrap();
        let unsigned = entry("a", None);
        let anyones = Wanted {
            publisher: None,
            ..wanted.clone()
        };
        unsigned.check(&anyones, Unsigned::Locked).unwrap();
        let key = |publisher: &Publisher| publisher.keys[0].id().to_string();
        let mut elsewhere = wanted.clone();
        elsewhere.source = Place::Layout("folder".into());
        let mut newer = wanted.clone();
        newer.requirement = "^0.2".parse().unwrap();
        let mut digest = wanted.clone();
        digest.requirement = Requirement::Digest(Digest::of(b"other"));
        let mut rotated = wanted.clone();
        rotated.publisher = Some(other.clone());
        let mut renamed = wanted.clone();
        renamed.publisher.as_mut().unwrap().name = "emca".into();
        for (entry, wanted, expected, found) in [
            (
                &signed,
                &elsewhere,
                "oci-layout:folder",
                "oci://registry.example",
            ),
            (&signed, &newer, "^0.2", "0.1.3"),
            (
                &signed,
                &digest,
                &Digest::of(b"other").to_string()[..],
                "0.1.3",
            ),
            (&signed, &rotated, &key(&other)[..], &key(&acme)[..]),
            (&signed, &renamed, "`emca`", "`acme`"),
            (&unsigned, &wanted, &key(&acme)[..], "no signature"),
            (&unsigned, &anyones, "policy refuses", "no signature"),
        ] {
            let error = entry
                .check(wanted, Unsigned::Refuse)
                .unwrap_err()
                .to_string();
            for part in [expected, found, "`baler update a`"] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }
}
