//! What left a conversation, stored before the result is handed over (invariant I6).

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::conversation::Conversation;
use crate::fault::HostError;
use crate::state;

/// Hex digits of a reference: 80 bits, short enough for a placeholder.
const DIGITS: usize = 20;

/// A folder of units, each under the digest of its messages, so that none is stored twice. Beside
/// them single messages, as they were before a repair.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
}

impl Archive {
    /// The archive in `folder`, which is made where it is not there.
    ///
    /// # Errors
    /// The folder cannot be made, or others can write into it.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, HostError> {
        let folder = folder.into();
        state::private_folder(&folder)?;
        Ok(Self { folder })
    }

    /// The messages that were stored under this reference, as a JSON list; none where there is none.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn get(&self, reference: &str) -> Result<Option<String>, HostError> {
        let is_one =
            reference.len() == DIGITS && reference.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_one {
            return Ok(None);
        }
        let path = self.path(reference);
        match fs::read_to_string(&path) {
            Ok(messages) => Ok(Some(messages)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(HostError::Io {
                action: "read",
                path,
                source,
            }),
        }
    }

    /// Stores a unit, and gives its reference.
    pub(crate) fn put(
        &self,
        conversation: &Conversation,
        unit: usize,
    ) -> Result<String, HostError> {
        self.put_list(&messages(conversation, unit))
    }

    /// Stores a message, and gives its reference.
    pub(crate) fn put_message(&self, message: &str) -> Result<String, HostError> {
        self.put_list(&format!("[{message}]"))
    }

    fn put_list(&self, messages: &str) -> Result<String, HostError> {
        let reference = reference_of(messages);
        let path = self.path(&reference);
        match fs::read(&path) {
            Ok(stored) if stored == messages.as_bytes() => return Ok(reference),
            // Half written by a crash of the machine, or damaged: it is written again.
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => {
                return Err(HostError::Io {
                    action: "read",
                    path,
                    source,
                });
            }
        }
        write_whole(&self.folder, &path, messages.as_bytes())?;
        Ok(reference)
    }

    fn path(&self, reference: &str) -> PathBuf {
        self.folder.join(format!("{reference}.json"))
    }
}

/// Writes a file whole or not at all.
fn write_whole(folder: &Path, path: &Path, bytes: &[u8]) -> Result<(), HostError> {
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)
    });
    written.map(drop).map_err(|source| HostError::Io {
        action: "write",
        path: path.to_owned(),
        source,
    })
}

/// The reference of a unit; none where there is no such unit.
pub(crate) fn reference(conversation: &Conversation, unit: usize) -> Option<String> {
    conversation.units().get(unit)?;
    Some(reference_of(&messages(conversation, unit)))
}

fn messages(conversation: &Conversation, unit: usize) -> String {
    let raw: Vec<&str> = conversation.raw_messages(unit).collect();
    format!("[{}]", raw.join(","))
}

fn reference_of(messages: &str) -> String {
    let digest = Sha256::digest(messages.as_bytes());
    let mut hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.truncate(DIGITS);
    hex
}
