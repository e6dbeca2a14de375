//! Files that are written whole or not at all.
//!
//! Content is written to a file without a name, which the system removes however the program
//! ends, and gets a name only for the moment in which it takes its place. Where a file system
//! has no such files (and outside of Linux), the file has a name for as long as its content is
//! written.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use tempfile::TempPath;

/// A file that will be written whole or not at all.
#[derive(Debug)]
pub(crate) enum WholeFile {
    /// Written beside its place, then moved there.
    Regular {
        target: Target,
        /// None where it has to have a name, and so is made when there is content.
        unnamed: Option<File>,
    },
    /// A pipe or device, which cannot be replaced.
    Special { shown: PathBuf, file: File },
}

/// Where a file goes.
#[derive(Debug)]
pub(crate) struct Target {
    /// As it was typed, for errors.
    shown: PathBuf,
    /// What a link leads to is replaced, not the link.
    place: PathBuf,
    /// Those of the file that is replaced.
    permissions: Option<Permissions>,
}

/// A file whose content is written, and which is not in its place yet.
#[derive(Debug)]
#[must_use = "it is in its place only once it is committed"]
pub(crate) struct Staged(Option<(Target, Content)>);

#[derive(Debug)]
enum Content {
    Unnamed(File),
    Named(TempPath),
}

impl WholeFile {
    /// Begins the file, so that one that cannot be written is known before any work is done.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        Self::begin(path).with_context(|| cannot_write(path))
    }

    fn begin(path: &Path) -> anyhow::Result<Self> {
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = fs::metadata(&place).ok();
        if let Some(before) = &before {
            if before.is_dir() {
                return Err(anyhow!("it is a folder; name a file in it"));
            }
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
            permissions: before.map(|before| before.permissions()),
        };
        let unnamed = target.unnamed();
        if unnamed.is_none() {
            // Only to know whether it can be made; it is removed at once.
            target.named().map_err(|error| {
                anyhow!("{error}; name a file in a folder that is there and that you may write to")
            })?;
        }
        Ok(Self::Regular { target, unnamed })
    }

    /// Whether it cannot be taken back once it is written.
    pub(crate) const fn is_special(&self) -> bool {
        matches!(self, Self::Special { .. })
    }

    /// Writes the content: of a pipe or device where it goes, of all else beside its place.
    pub(crate) fn stage(self, content: &str) -> anyhow::Result<Staged> {
        match self {
            Self::Regular { target, unnamed } => {
                let content = target.write(unnamed, content);
                let content = content.with_context(|| cannot_write(&target.shown))?;
                Ok(Staged(Some((target, content))))
            }
            Self::Special { shown, mut file } => file
                .write_all(content.as_bytes())
                .with_context(|| cannot_write(&shown))
                .map(|()| Staged(None)),
        }
    }

    /// Puts the file in its place with this content.
    pub(crate) fn finish(self, content: &str) -> anyhow::Result<()> {
        self.stage(content)?.commit()
    }
}

impl Staged {
    /// Puts the file in its place.
    pub(crate) fn commit(self) -> anyhow::Result<()> {
        let Some((target, content)) = self.0 else {
            return Ok(());
        };
        let named = match content {
            Content::Named(named) => Ok(named),
            Content::Unnamed(file) => target.name(file),
        };
        named
            .and_then(|named| named.persist(&target.place).map_err(|error| error.error))
            .with_context(|| cannot_write(&target.shown))
    }
}

/// Without the temporary file's name, which says nothing to anybody.
fn cannot_write(shown: &Path) -> String {
    format!("cannot write `{}`", shown.display())
}

impl Target {
    fn folder(&self) -> &Path {
        match self.place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// As any new file, the umask taken off; one that will replace another is its owner's alone
    /// until it has the permissions of that.
    #[cfg(unix)]
    const fn mode(&self) -> u32 {
        match self.permissions {
            None => 0o666,
            Some(_) => 0o600,
        }
    }

    fn write(&self, unnamed: Option<File>, content: &str) -> io::Result<Content> {
        let fill = |file: &mut File| {
            if let Some(permissions) = &self.permissions {
                file.set_permissions(permissions.clone())?;
            }
            file.write_all(content.as_bytes())?;
            file.sync_all()
        };
        match unnamed {
            Some(mut file) => {
                fill(&mut file)?;
                Ok(Content::Unnamed(file))
            }
            None => {
                // Removed again where an error follows.
                let (mut file, named) = self.named()?;
                fill(&mut file)?;
                Ok(Content::Named(named))
            }
        }
    }

    /// A file without a name beside the place; none where there are none, or none may be made.
    #[cfg(target_os = "linux")]
    fn unnamed(&self) -> Option<File> {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;
        // For writing and reading, should it have to be copied.
        let mut options = File::options();
        options.read(true).write(true).mode(self.mode());
        options.custom_flags(OFlags::TMPFILE.bits().cast_signed());
        options.open(self.folder()).ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn unnamed(&self) -> Option<File> {
        None
    }

    /// A file with a name that nobody else has, beside the place.
    fn named(&self) -> io::Result<(File, TempPath)> {
        let made = names().make_in(self.folder(), |name| {
            let mut options = File::options();
            options.read(true).write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, self.mode());
            // Not by `tempfile_in`, whose errors tell the name.
            options.open(name)
        })?;
        Ok(made.into_parts())
    }

    /// Gives a file without a name one beside the place.
    #[cfg(target_os = "linux")]
    fn name(&self, mut file: File) -> io::Result<TempPath> {
        use std::io::{Seek as _, SeekFrom};
        use std::os::fd::AsRawFd as _;

        use rustix::fs::{AtFlags, CWD, linkat};
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        let linked = names().make_in(self.folder(), |name| {
            linkat(CWD, own.as_str(), CWD, name, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
        });
        if let Ok(linked) = linked {
            return Ok(linked.into_temp_path());
        }
        // Without /proc, and on some file systems, it cannot be named.
        let (mut copy, named) = self.named()?;
        if let Some(permissions) = &self.permissions {
            copy.set_permissions(permissions.clone())?;
        }
        file.seek(SeekFrom::Start(0))?;
        io::copy(&mut file, &mut copy)?;
        copy.sync_all()?;
        Ok(named)
    }

    #[cfg(not(target_os = "linux"))]
    fn name(&self, _: File) -> io::Result<TempPath> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

fn names() -> tempfile::Builder<'static, 'static> {
    let mut names = tempfile::Builder::new();
    names.prefix(".baler-");
    names
}
