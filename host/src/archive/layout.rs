//! The names that an archive writes. What is called otherwise is not the archive's, and is
//! neither counted nor removed.

use std::ffi::OsStr;

use super::Kind;
use crate::reference::is_reference;

/// The file by which a folder is known to be an archive.
pub(super) const MARKER: &str = "baler-archive";
/// What [`MARKER`] says.
pub(super) const MARK: &str = "baler archive, version 1\n";

/// The folder of files that are being written.
pub(super) const STAGING: &str = "staging";
/// A file in it is called by so many random letters and digits, and this.
pub(super) const STAGED: &str = ".part";
pub(super) const STAGED_LETTERS: usize = 16;

/// All folders of an archive.
pub(super) const FOLDERS: [&str; 3] = [Kind::Entry.folder(), Kind::Undo.folder(), STAGING];

/// Whether something of this name in the folder of an archive is the archive's.
pub(super) fn is_own(name: &OsStr) -> bool {
    name == MARKER || FOLDERS.iter().any(|folder| name == *folder)
}

/// What a file of an archive is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Stored(Kind),
    /// Begun by a run that may have been killed.
    Unfinished,
}

/// Where something is stored, from the archive's place on.
pub(super) fn path_of(kind: Kind, reference: &str) -> String {
    format!("{}/{reference}.json", kind.folder())
}

impl Role {
    /// The role of what lies at this path, from the archive's place on; `None` if the archive
    /// writes no such name.
    pub(super) fn of(path: &str) -> Option<Self> {
        let (folder, name) = path.split_once('/')?;
        if folder == STAGING {
            return is_staged(name).then_some(Self::Unfinished);
        }
        let kind = Kind::ALL.into_iter().find(|kind| kind.folder() == folder)?;
        // What `gc` moves aside has a number behind the name, and so had unfinished files before there
        // was a folder for them.
        let (name, number) = match name.split_once('#') {
            Some((name, number)) => (name, Some(number)),
            None => (name, None),
        };
        let reference = name.strip_suffix(".json")?;
        if !is_reference(reference) || reference.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        match number {
            None => Some(Self::Stored(kind)),
            Some(number) => is_number(number).then_some(Self::Unfinished),
        }
    }
}

fn is_staged(name: &str) -> bool {
    name.strip_suffix(STAGED).is_some_and(|letters| {
        letters.len() == STAGED_LETTERS && letters.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn is_number(text: &str) -> bool {
    (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn role_knows_every_name_that_an_archive_writes() {
        let reference = "0123456789abcdef0123";
        for kind in Kind::ALL {
            let path = path_of(kind, reference);
            assert_eq!(Role::of(&path), Some(Role::Stored(kind)), "{path}");
            let unfinished = format!("{path}#12");
            assert_eq!(Role::of(&unfinished), Some(Role::Unfinished));
        }
        let staged = "staging/aZ09aZ09aZ09aZ09.part";
        assert_eq!(Role::of(staged), Some(Role::Unfinished));
    }

    #[test]
    fn role_knows_no_other_name() {
        for path in [
            "",
            "entries",
            "baler-archive",
            "0123456789abcdef0123.json",
            "entries/post.md",
            "entries/0123456789abcdef0123",
            "entries/0123456789abcdef0123.json.bak",
            "entries/0123456789abcdef012.json",
            "entries/0123456789abcdef01234.json",
            "entries/0123456789ABCDEF0123.json",
            "entries/0123456789abcdefghij.json",
            "entries/2020/0123456789abcdef0123.json",
            "entries/0123456789abcdef0123.json#",
            "entries/0123456789abcdef0123.json#1#2",
            "entries/0123456789abcdef0123.json#x",
            "others/0123456789abcdef0123.json",
            "entries/aZ09aZ09aZ09aZ09.part",
            "staging/0123456789abcdef0123.json",
            "staging/aZ09aZ09aZ09aZ09",
            "staging/aZ09aZ09aZ09.part",
            "staging/aZ09aZ09/aZ09aZ0.part",
        ] {
            assert_eq!(Role::of(path), None, "{path}");
        }
    }
}
