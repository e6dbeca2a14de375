//! Reads the files of the strategies of `baler.toml`.

use baler_files::{Links, open_regular, read_within};

use super::{Listed, ListedError, ListedSource, Permit, Project};
use crate::content_hash::ContentHash;
use crate::strategy::LoadError;

impl Listed {
    /// Reads the file of the strategy, and checks that it is the one that was listed.
    ///
    /// # Errors
    /// The file cannot be read, has another hash, or has no digest although the policy requires one; or the strategy is in
    /// a registry and has none.
    pub fn read(&self, project: &Project, limit: usize) -> Result<Vec<u8>, ListedError> {
        let path = match &self.source {
            ListedSource::File(path) => path.as_path(),
            ListedSource::Registry(source) => {
                return Err(ListedError::InRegistry {
                    name: self.name.as_str().into(),
                    place: source.place.as_str().into(),
                });
            }
        };
        let cannot_read = |source| ListedError::Io {
            name: self.name.as_str().into(),
            path: path.into(),
            source,
        };
        let shown = path.display().to_string();
        if std::fs::metadata(path).map_err(cannot_read)?.is_dir() {
            let problem = "it is a folder; name the .wasm file itself";
            return Err(cannot_read(std::io::Error::other(problem)));
        }
        let file = open_regular(path, Links::Followed, &shown).map_err(cannot_read)?;
        let file = file.ok_or_else(|| cannot_read(std::io::ErrorKind::NotFound.into()))?;
        let bytes = file.metadata().map_err(cannot_read)?.len();
        let read = read_within(file, limit).map_err(cannot_read)?;
        let wasm = read.ok_or_else(|| ListedError::Load {
            name: self.name.as_str().into(),
            source: Box::new(LoadError::TooLarge {
                bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
                limit,
            }),
        })?;
        let found = ContentHash::of(&wasm);
        match self.digest {
            Some(expected) if expected != found => Err(ListedError::Changed {
                name: self.name.as_str().into(),
                file: project.file.as_path().into(),
                path: path.into(),
                expected,
                found,
            }),
            None if project.policy.without_digest == Permit::Refuse => Err(ListedError::NoDigest {
                name: self.name.as_str().into(),
                file: project.file.as_path().into(),
                found,
            }),
            _ => Ok(wasm),
        }
    }
}
