//! The names of an archive's files. Files with other names are neither counted nor removed.

use std::ffi::OsStr;

use crate::Kind;
use crate::reference::is_reference;

/// The file that marks a folder as an archive.
pub(crate) const MARKER: &str = "baler-archive";
/// The content of [`MARKER`].
pub(crate) const MARK: &str = "baler archive, version 1\n";

/// The folder of files that are being written.
pub(crate) const STAGING: &str = "staging";
/// The end of the name of a file in [`STAGING`], after [`STAGED_LETTERS`] random letters and digits.
pub(crate) const STAGED: &str = ".part";
pub(crate) const STAGED_LETTERS: usize = 16;

/// All folders of an archive.
pub(crate) const FOLDERS: [&str; 3] = [Kind::Entry.folder(), Kind::Undo.folder(), STAGING];

/// Whether a file or folder of this name, directly in an archive's folder, belongs to the archive.
pub(crate) fn is_own(name: &OsStr) -> bool {
    name == MARKER || FOLDERS.iter().any(|folder| name == *folder)
}

/// The purpose of a file of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Stored(Kind),
    /// Being written, or left behind by a killed run.
    Unfinished,
}

/// Returns where content is stored, relative to the archive's location.
pub(crate) fn path_of(kind: Kind, reference: &str) -> String {
    format!("{}/{reference}.json", kind.folder())
}

impl Role {
    /// Returns the role of the file at this path, relative to the archive's location; `None` if the archive
    /// writes no such name.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (folder, name) = path.split_once('/')?;
        if folder == STAGING {
            return is_staged(name).then_some(Self::Unfinished);
        }
        let kind = Kind::ALL.into_iter().find(|kind| kind.folder() == folder)?;
        // A file that `gc` moved aside has a number after its name. So had unfinished files before the
        // folder `staging` existed.
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
