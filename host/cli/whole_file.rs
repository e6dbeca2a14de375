//! Files that are written whole or not at all.
//!
//! Content is written to a file with a temporary name in the same folder (`baler_files::staged`), which is then moved to
//! its path.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use baler_files::{staged, sync_folder};
use tempfile::NamedTempFile;

use crate::files::Seen;
use crate::{access, descriptor, files, links, output};

/// A file that will be written whole or not at all.
#[derive(Debug)]
pub(crate) enum WholeFile {
    /// A regular file.
    Regular(Target),
    /// A pipe, device or open descriptor, which must not be replaced.
    Special { shown: PathBuf, file: File },
}

/// The path that a file will have.
#[derive(Debug)]
pub(crate) struct Target {
    /// The path as the user typed it, for error messages.
    shown: PathBuf,
    /// The path with links resolved, those of folders too: no link is replaced, and none is followed again.
    place: PathBuf,
    /// The metadata of the file that is replaced. Boxed, because it is large.
    before: Option<Box<Metadata>>,
    /// The identity that the replaced file must still have; `None` if it may be any file.
    seen: Option<Seen>,
}

/// A file whose content is written, but which does not have its path yet.
#[derive(Debug)]
#[must_use = "a staged file has its path only once it is committed"]
pub(crate) struct Staged(Option<(Target, NamedTempFile)>);

impl WholeFile {
    /// Prepares the file, so that a path that cannot be written to is reported before any work is done.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        Self::begin(path).with_context(|| cannot_write(path))
    }

    fn begin(path: &Path) -> anyhow::Result<Self> {
        let place = links::followed(path)?;
        if let Some(opened) = descriptor::named_by(path) {
            let shown = path.to_owned();
            let file = opened?;
            return Ok(Self::Special { shown, file });
        }
        let is_link = || fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink());
        let before = match fs::metadata(&place) {
            // Whoever made the link meant another file.
            Err(error) if is_link() => {
                return Err(anyhow!(
                    "it is a link that leads to no file ({error}); remove it, or name the file that it should lead to"
                ));
            }
            Err(error) if error.kind() == ErrorKind::InvalidFilename => {
                return Err(anyhow!("{error}; give it a shorter name"));
            }
            before => before.ok(),
        };
        if before.as_ref().is_some_and(Metadata::is_dir) {
            return Err(anyhow!("it is a folder; name a file in it"));
        }
        if names_a_folder(path) {
            return Err(anyhow!("that is a folder's name; name a file"));
        }
        if let Some(before) = &before {
            if !before.is_file() {
                let file = File::options().write(true).open(&place)?;
                let shown = path.to_owned();
                return Ok(Self::Special { shown, file });
            }
            if before.permissions().readonly() {
                return Err(anyhow!("it is read-only"));
            }
        }
        let target = Target {
            shown: path.to_owned(),
            place,
            before: before.map(Box::new),
            seen: None,
        };
        staged::clear(target.folder(), false);
        // Created only to find out whether it can be; it is removed at once.
        target.create().map_err(|error| {
            anyhow!("{error}; name a file in a folder that is there and that you may write to")
        })?;
        Ok(Self::Regular(target))
    }

    /// Makes the file replace only the file that was `seen` at its path, if one was.
    pub(crate) fn replacing(mut self, seen: Option<Seen>) -> Self {
        if let Self::Regular(target) = &mut self {
            target.seen = seen;
        }
        self
    }

    /// Returns whether written content cannot be undone, as with a pipe or device.
    pub(crate) const fn is_special(&self) -> bool {
        matches!(self, Self::Special { .. })
    }

    /// Writes the content: to a pipe or device directly, escaped if it is a terminal; of a regular file to a
    /// file in the same folder.
    pub(crate) fn stage(self, content: &str) -> anyhow::Result<Staged> {
        match self {
            Self::Regular(target) => target.stage(content.as_bytes()),
            // It may be a terminal, whatever its path looks like.
            Self::Special { shown, file } => output::write_document(file, &[content])
                .with_context(|| cannot_write(&shown))
                .map(|()| Staged(None)),
        }
    }

    /// Writes this content and moves the file to its path.
    pub(crate) fn finish(self, content: &str) -> anyhow::Result<()> {
        commit_all(vec![self.stage(content)?])
    }

    /// Removes a file that is at the path, so that none is there afterwards.
    #[cfg(feature = "eval")]
    pub(crate) fn remove(self) -> anyhow::Result<()> {
        let Self::Regular(target) = self else {
            return Ok(());
        };
        match fs::remove_file(&target.place) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove `{}`", target.shown.display()))
            }
            _ => Ok(()),
        }
    }

    /// Writes binary content, which is refused for a terminal.
    pub(crate) fn finish_binary(self, content: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Regular(target) => commit_all(vec![target.stage(content)?]),
            Self::Special { shown, file } if file.is_terminal() => {
                Err(anyhow!("it is a terminal; name a file").context(cannot_write(&shown)))
            }
            Self::Special { shown, mut file } => file
                .write_all(content)
                .with_context(|| cannot_write(&shown)),
        }
    }
}

/// Moves files to their paths, in this order. First looks whether each of them can be.
pub(crate) fn commit_all(staged: Vec<Staged>) -> anyhow::Result<()> {
    let files: Vec<_> = staged.into_iter().filter_map(|staged| staged.0).collect();
    for (target, _) in &files {
        target
            .check()
            .with_context(|| cannot_write(&target.shown))?;
    }
    for (target, file) in files {
        let moved = file.persist(&target.place).map_err(|error| error.error);
        moved.with_context(|| cannot_write(&target.shown))?;
        // Not every folder can be flushed, and the content is written anyway.
        let _ = sync_folder(target.folder());
    }
    Ok(())
}

/// Returns whether a path can only name a folder, such as `new/`, `new/.` and `..`.
fn names_a_folder(path: &Path) -> bool {
    let typed = path.as_os_str().as_encoded_bytes();
    path.file_name()
        .is_none_or(|name| !typed.ends_with(name.as_encoded_bytes()))
}

/// Returns the message of a failed write, without the temporary name, which means nothing to the user.
fn cannot_write(shown: &Path) -> String {
    format!("cannot write `{}`", shown.display())
}

impl Target {
    fn folder(&self) -> &Path {
        files::folder_of(&self.place)
    }

    /// Creates the file that will have the path: with the permissions of any new file or, if it will replace one, of a
    /// private file until it gets those of that one.
    fn create(&self) -> io::Result<NamedTempFile> {
        match self.before {
            None => staged::begin_public(self.folder()),
            Some(_) => staged::begin(self.folder()),
        }
    }

    fn stage(self, content: &[u8]) -> anyhow::Result<Staged> {
        let file = self.write(content);
        let file = file.with_context(|| cannot_write(&self.shown))?;
        Ok(Staged(Some((self, file))))
    }

    fn write(&self, content: &[u8]) -> io::Result<NamedTempFile> {
        // Dropping it after an error removes it.
        let staged = self.create()?;
        let mut file = staged.as_file();
        if let Some(before) = &self.before {
            access::keep(file, &self.place, before)?;
        }
        // The errors of `staged` itself would name the temporary file.
        file.write_all(content)?;
        file.sync_all()?;
        Ok(staged)
    }

    /// Refuses to replace a folder, and a file that another program changed since it was read. A change between this
    /// check and the renaming is not noticed.
    fn check(&self) -> anyhow::Result<()> {
        let now = fs::metadata(&self.place).ok();
        if now.as_ref().is_some_and(Metadata::is_dir) {
            return Err(anyhow!("a folder has taken its place"));
        }
        if self.seen.is_none() || self.seen == now.as_ref().and_then(Seen::of) {
            return Ok(());
        }
        Err(anyhow!(
            "another program wrote to it, or replaced it, since it was read; it stays as it is, so run this again"
        ))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn file_goes_to_the_folder_that_a_link_led_to_at_the_beginning() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for new in ["first", "second"] {
            fs::create_dir(path(new)).expect("is made");
        }
        fs::write(path("first/old"), "before").expect("is written");
        fs::write(path("second/old"), "yours").expect("is written");
        let link = path("link");
        for name in ["new", "old"] {
            symlink("first", &link).expect("a link");
            let file = WholeFile::create(&link.join(name)).expect("it can be written");
            fs::remove_file(&link).expect("it is there");
            symlink("second", &link).expect("a link");
            file.finish("whole").expect("it is written");
            fs::remove_file(&link).expect("a link still");
            let content = fs::read_to_string(path("first").join(name));
            assert_eq!(content.expect("it is there"), "whole");
        }
        assert!(!path("second/new").exists());
        let others = fs::read_to_string(path("second/old")).expect("it is there");
        assert_eq!(others, "yours");
    }
}
