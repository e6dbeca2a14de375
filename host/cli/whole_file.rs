//! Files that are written whole or not at all.
//!
//! Content is written to an unnamed file, which the system removes however the program ends. The file gets a
//! name only for the moment in which it is moved to its path. On file systems without unnamed files (and
//! outside of Linux), the file has a temporary name while its content is written (`unfinished.rs`).

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use tempfile::TempPath;

use crate::files::Seen;
use crate::{access, descriptor, files, links, output, unfinished};

/// A file that will be written whole or not at all.
#[derive(Debug)]
pub(crate) enum WholeFile {
    /// A regular file, written in the folder of its path, then moved to its path.
    Regular {
        target: Target,
        /// The unnamed file; `None` if the file system has none, so that a named one is created later.
        unnamed: Option<File>,
    },
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
pub(crate) struct Staged(Option<(Target, Content)>);

#[derive(Debug)]
enum Content {
    Unnamed(File),
    /// Kept open while it has its temporary name, so that no other run removes it as abandoned.
    Named(File, TempPath),
}

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
        unfinished::clear(target.folder());
        let unnamed = target.create_unnamed();
        if unnamed.is_none() {
            // Created only to find out whether it can be; it is removed at once.
            target.create_named().map_err(|error| {
                anyhow!("{error}; name a file in a folder that is there and that you may write to")
            })?;
        }
        Ok(Self::Regular { target, unnamed })
    }

    /// Makes the file replace only the file that was `seen` at its path, if one was.
    pub(crate) fn replacing(mut self, seen: Option<Seen>) -> Self {
        if let Self::Regular { target, .. } = &mut self {
            target.seen = seen;
        }
        self
    }

    /// Returns the folder of the file's path; `None` for a pipe or device.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Regular { target, .. } => Some(target.folder()),
            Self::Special { .. } => None,
        }
    }

    /// Returns whether written content cannot be undone, as with a pipe or device.
    pub(crate) const fn is_special(&self) -> bool {
        matches!(self, Self::Special { .. })
    }

    /// Writes the content: to a pipe or device directly, escaped if it is a terminal; of a regular file to a
    /// file in the same folder.
    pub(crate) fn stage(self, content: &str) -> anyhow::Result<Staged> {
        match self {
            Self::Regular { target, unnamed } => {
                let content = target.write(unnamed, content.as_bytes());
                let content = content.with_context(|| cannot_write(&target.shown))?;
                Ok(Staged(Some((target, content))))
            }
            // It may be a terminal, whatever its path looks like.
            Self::Special { shown, file } => output::write_document(file, &[content])
                .with_context(|| cannot_write(&shown))
                .map(|()| Staged(None)),
        }
    }

    /// Writes this content and moves the file to its path.
    pub(crate) fn finish(self, content: &str) -> anyhow::Result<()> {
        self.stage(content)?.commit()
    }

    /// Writes binary content, which is refused for a terminal.
    pub(crate) fn finish_binary(self, content: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Regular { target, unnamed } => {
                let content = target.write(unnamed, content);
                let content = content.with_context(|| cannot_write(&target.shown))?;
                target.put(content)
            }
            Self::Special { shown, file } if file.is_terminal() => {
                Err(anyhow!("it is a terminal; name a file").context(cannot_write(&shown)))
            }
            Self::Special { shown, mut file } => file
                .write_all(content)
                .with_context(|| cannot_write(&shown)),
        }
    }
}

impl Staged {
    /// Moves the file to its path.
    pub(crate) fn commit(self) -> anyhow::Result<()> {
        match self.0 {
            Some((target, content)) => target.put(content),
            None => Ok(()),
        }
    }
}

/// Moves files to their paths, in this order. If one cannot be moved, the files that the earlier ones
/// replaced are restored. The caller must hold the locks of their folders (`turn.rs`) until this returns.
pub(crate) fn commit_all(staged: Vec<Staged>) -> anyhow::Result<()> {
    let mut files: Vec<(Target, Content)> =
        staged.into_iter().filter_map(|staged| staged.0).collect();
    let Some((last, content)) = files.pop() else {
        return Ok(());
    };
    let mut replaced = Vec::new();
    let mut done = Ok(());
    for (target, content) in files {
        match target.replace(content) {
            Ok(one) => replaced.push(one),
            Err(error) => {
                done = Err(error);
                break;
            }
        }
    }
    let Err(mut error) = done.and_then(|()| last.put(content)) else {
        return Ok(());
    };
    for one in replaced.into_iter().rev() {
        if let Err(failure) = one.restore() {
            error = error.context(failure);
        }
    }
    Err(error)
}

/// A file that was moved to its path, and a backup of the file that was there before.
#[derive(Debug)]
struct Replaced {
    target: Target,
    before: Option<TempPath>,
}

impl Replaced {
    fn restore(self) -> anyhow::Result<()> {
        let Self { target, before } = self;
        match before {
            Some(before) => target.restore(before),
            None => fs::remove_file(&target.place)
                .with_context(|| format!("cannot remove `{}` again", target.shown.display())),
        }
    }
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

    /// Moves the file to its path, if the file there is still the one that was read.
    fn put(&self, content: Content) -> anyhow::Result<()> {
        self.check_unchanged()?;
        self.move_to_path(content)
    }

    /// Refuses to replace a file that another program changed since it was read. A change between this check
    /// and the renaming is not noticed.
    fn check_unchanged(&self) -> anyhow::Result<()> {
        let now = || {
            fs::metadata(&self.place)
                .ok()
                .and_then(|now| Seen::of(&now))
        };
        if self.seen.is_none() || self.seen == now() {
            return Ok(());
        }
        Err(anyhow!(
            "another program wrote to it, or replaced it, since it was read; it stays as it is, so run this again"
        ))
        .with_context(|| cannot_write(&self.shown))
    }

    fn move_to_path(&self, content: Content) -> anyhow::Result<()> {
        let named = match content {
            Content::Named(file, named) => Ok((file, named)),
            Content::Unnamed(file) => self.give_name(file),
        };
        named
            .and_then(|(file, named)| {
                named.persist(&self.place).map_err(|error| error.error)?;
                // The lock ends only when the file has its path.
                drop(file);
                Ok(())
            })
            .with_context(|| cannot_write(&self.shown))?;
        self.sync_folder();
        Ok(())
    }

    /// Flushes the folder, so that the file's name reaches the disk too. Failures are ignored: not every
    /// folder can be flushed, and the content is written anyway.
    fn sync_folder(&self) {
        #[cfg(unix)]
        let _ = File::open(self.folder()).and_then(|folder| folder.sync_all());
    }

    /// Moves the file to its path, and keeps a backup of the file that was there.
    fn replace(self, content: Content) -> anyhow::Result<Replaced> {
        self.check_unchanged()?;
        let before = self.back_up().with_context(|| cannot_write(&self.shown))?;
        if let Err(error) = self.move_to_path(content) {
            // The original is missing only if the backup had to be made by renaming it.
            let missing = before.filter(|_| fs::symlink_metadata(&self.place).is_err());
            return Err(match missing.map(|before| self.restore(before)) {
                Some(Err(failure)) => error.context(failure),
                _ => error,
            });
        }
        let target = self;
        Ok(Replaced { target, before })
    }

    /// Gives the file at the path a second name. `None` if no file is there, or a folder, which no file can
    /// replace.
    fn back_up(&self) -> io::Result<Option<TempPath>> {
        match fs::symlink_metadata(&self.place) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            there => {
                if there?.is_dir() {
                    return Ok(None);
                }
            }
        }
        // `unfinished::clear` does not remove this name: after a killed run it may be the only copy.
        let mut names = tempfile::Builder::new();
        names.prefix(".baler-replaced-").rand_bytes(16);
        let linked = names.make_in(self.folder(), |name| fs::hard_link(&self.place, name));
        if let Ok(linked) = linked {
            return Ok(Some(linked.into_temp_path()));
        }
        // Some file systems have no hard links, and some files cannot be linked.
        let aside = names.make_in(self.folder(), |name| self.open_new(name))?;
        let aside = aside.into_temp_path();
        fs::rename(&self.place, &aside)?;
        Ok(Some(aside))
    }

    /// Restores the file that was at the path. If that fails, the backup is kept.
    fn restore(&self, before: TempPath) -> anyhow::Result<()> {
        before.persist(&self.place).map_err(|failed| {
            let shown = self.shown.display();
            let why = failed.error;
            match failed.path.keep() {
                Ok(kept) => anyhow!(
                    "cannot put back `{shown}` as it was ({why}); it is kept as `{}`",
                    kept.display()
                ),
                Err(_) => anyhow!("cannot put back `{shown}` as it was ({why})"),
            }
        })
    }

    /// Copies owner, permissions and the like from the file that is replaced.
    fn copy_access(&self, file: &File) -> io::Result<()> {
        match &self.before {
            Some(before) => access::keep(file, &self.place, before),
            None => Ok(()),
        }
    }

    /// Returns the permissions to create the file with, before the umask: those of any new file, or, if it
    /// will replace a file, of a private one until it gets the permissions of that file.
    #[cfg(unix)]
    const fn mode(&self) -> u32 {
        match self.before {
            None => 0o666,
            Some(_) => 0o600,
        }
    }

    fn write(&self, unnamed: Option<File>, content: &[u8]) -> io::Result<Content> {
        let fill = |file: &mut File| {
            self.copy_access(file)?;
            file.write_all(content)?;
            file.sync_all()
        };
        match unnamed {
            Some(mut file) => {
                fill(&mut file)?;
                Ok(Content::Unnamed(file))
            }
            None => {
                // Dropping `named` after an error removes the file.
                let (mut file, named) = self.create_named()?;
                fill(&mut file)?;
                Ok(Content::Named(file, named))
            }
        }
    }

    /// Creates an unnamed file in the folder of the path; `None` if the file system has no such files.
    #[cfg(target_os = "linux")]
    fn create_unnamed(&self) -> Option<File> {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;
        // Readable as well, because it may have to be copied.
        let mut options = File::options();
        options.read(true).write(true).mode(self.mode());
        options.custom_flags(OFlags::TMPFILE.bits().cast_signed());
        let file = options.open(self.folder()).ok()?;
        // The lock matters once the file has a name. Without locks no run removes unfinished files.
        let _ = file.try_lock();
        Some(file)
    }

    #[cfg(not(target_os = "linux"))]
    fn create_unnamed(&self) -> Option<File> {
        None
    }

    /// Creates a file with an unused name in the folder of the path.
    fn create_named(&self) -> io::Result<(File, TempPath)> {
        unfinished::make(self.folder(), |name| self.open_new(name))
    }

    /// Creates a file with this name. `tempfile_in` is not used, because its errors contain the name.
    fn open_new(&self, name: &Path) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, self.mode());
        options.open(name)
    }

    /// Gives an unnamed file a name in the folder of the path, or copies it to a named file.
    #[cfg(target_os = "linux")]
    fn give_name(&self, mut file: File) -> io::Result<(File, TempPath)> {
        use std::io::{Seek as _, SeekFrom};
        use std::os::fd::AsRawFd as _;

        use rustix::fs::{AtFlags, CWD, linkat};
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        let linked = unfinished::names().make_in(self.folder(), |name| {
            linkat(CWD, own.as_str(), CWD, name, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
        });
        if let Ok(linked) = linked {
            return Ok((file, linked.into_temp_path()));
        }
        // Without /proc, and on some file systems, an unnamed file cannot be linked.
        let (mut copy, named) = self.create_named()?;
        self.copy_access(&copy)?;
        file.seek(SeekFrom::Start(0))?;
        io::copy(&mut file, &mut copy)?;
        copy.sync_all()?;
        Ok((copy, named))
    }

    #[cfg(not(target_os = "linux"))]
    fn give_name(&self, _: File) -> io::Result<(File, TempPath)> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
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
