//! Files that are written whole or not at all.
//!
//! Content is written to a file without a name, which the system removes however the program
//! ends, and gets a name only for the moment in which it takes its place. Where a file system
//! has no such files (and outside of Linux), the file has a name for as long as its content is
//! written (`unfinished.rs`).

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use tempfile::TempPath;

use crate::files::Seen;
use crate::{access, descriptor, files, links, output, unfinished};

/// A file that will be written whole or not at all.
#[derive(Debug)]
pub(crate) enum WholeFile {
    /// Written beside its place, then moved there.
    Regular {
        target: Target,
        /// None where it has to have a name, and so is made when there is content.
        unnamed: Option<File>,
    },
    /// A pipe, device or open descriptor, which is not to be replaced.
    Special { shown: PathBuf, file: File },
}

/// Where a file goes.
#[derive(Debug)]
pub(crate) struct Target {
    /// As it was typed, for errors.
    shown: PathBuf,
    /// What a link leads to is replaced, not the link.
    place: PathBuf,
    /// The file that is replaced. Boxed, as it is large.
    before: Option<Box<Metadata>>,
    /// What must still be there when the file is replaced; `None` if it may be anything.
    seen: Option<Seen>,
}

/// A file whose content is written, and which is not in its place yet.
#[derive(Debug)]
#[must_use = "it is in its place only once it is committed"]
pub(crate) struct Staged(Option<(Target, Content)>);

#[derive(Debug)]
enum Content {
    Unnamed(File),
    /// Open as long as it has this name, so that nobody takes it for abandoned.
    Named(File, TempPath),
}

impl WholeFile {
    /// Begins the file, so that one that cannot be written is known before any work is done.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        Self::begin(path).with_context(|| cannot_write(path))
    }

    fn begin(path: &Path) -> anyhow::Result<Self> {
        links::check_owners(path)?;
        if let Some(opened) = descriptor::named_by(path) {
            let shown = path.to_owned();
            let file = opened?;
            return Ok(Self::Special { shown, file });
        }
        let place = followed(path)?;
        let before = match fs::metadata(&place) {
            Err(error) if error.kind() == ErrorKind::InvalidFilename => {
                return Err(anyhow!("{error}; give it a shorter name"));
            }
            before => before.ok(),
        };
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
        } else if names_a_folder(path) {
            return Err(anyhow!("that is a folder's name; name a file"));
        }
        let target = Target {
            shown: path.to_owned(),
            place,
            before: before.map(Box::new),
            seen: None,
        };
        unfinished::clear(target.folder());
        let unnamed = target.unnamed();
        if unnamed.is_none() {
            // Only to know whether it can be made; it is removed at once.
            target.named().map_err(|error| {
                anyhow!("{error}; name a file in a folder that is there and that you may write to")
            })?;
        }
        Ok(Self::Regular { target, unnamed })
    }

    /// Takes its place only as long as that is what was `seen` there, where something was.
    pub(crate) fn replacing(mut self, seen: Option<Seen>) -> Self {
        if let Self::Regular { target, .. } = &mut self {
            target.seen = seen;
        }
        self
    }

    /// The folder in which it takes its place; none of a pipe or device.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Regular { target, .. } => Some(target.folder()),
            Self::Special { .. } => None,
        }
    }

    /// Whether it cannot be taken back once it is written.
    pub(crate) const fn is_special(&self) -> bool {
        matches!(self, Self::Special { .. })
    }

    /// Writes the content: of a pipe or device where it goes, made harmless to a terminal, and of
    /// all else beside its place.
    pub(crate) fn stage(self, content: &str) -> anyhow::Result<Staged> {
        match self {
            Self::Regular { target, unnamed } => {
                let content = target.write(unnamed, content);
                let content = content.with_context(|| cannot_write(&target.shown))?;
                Ok(Staged(Some((target, content))))
            }
            // It may be a terminal, however it was named.
            Self::Special { shown, file } => output::write_document(file, &[content])
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
        match self.0 {
            Some((target, content)) => target.put(content),
            None => Ok(()),
        }
    }
}

/// Puts files in their places, in this order. Where one cannot take its place, those before it
/// are put back as they were. The caller has its turn in their folders (`turn.rs`), also until
/// what was replaced is put back.
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
        if let Err(left) = one.put_back() {
            error = error.context(left);
        }
    }
    Err(error)
}

/// A file that is in its place, and what was there before.
#[derive(Debug)]
struct Replaced {
    target: Target,
    before: Option<TempPath>,
}

impl Replaced {
    fn put_back(self) -> anyhow::Result<()> {
        let Self { target, before } = self;
        match before {
            Some(before) => target.put_back(before),
            None => fs::remove_file(&target.place)
                .with_context(|| format!("cannot remove `{}` again", target.shown.display())),
        }
    }
}

/// Where a path leads to; the path itself where nothing is there yet.
fn followed(path: &Path) -> anyhow::Result<PathBuf> {
    let is_link = || fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink());
    match fs::canonicalize(path) {
        Ok(place) => Ok(place),
        Err(error) if is_link() => Err(anyhow!(
            "it is a link that leads to no file ({error}); remove it, or name the file that it should lead to"
        )),
        Err(_) => Ok(path.to_owned()),
    }
}

/// Whether a path can be of nothing but a folder, as `new/`, `new/.` and `..`.
fn names_a_folder(path: &Path) -> bool {
    let typed = path.as_os_str().as_encoded_bytes();
    path.file_name()
        .is_none_or(|name| !typed.ends_with(name.as_encoded_bytes()))
}

/// Without the temporary file's name, which says nothing to anybody.
fn cannot_write(shown: &Path) -> String {
    format!("cannot write `{}`", shown.display())
}

impl Target {
    fn folder(&self) -> &Path {
        files::folder_of(&self.place)
    }

    /// Puts the file in its place.
    fn put(&self, content: Content) -> anyhow::Result<()> {
        self.check_unchanged()?;
        self.take_place(content)
    }

    /// Refuses to replace a file that another program wrote to since it was read. Only who writes
    /// in the very moment between this and the renaming is not seen.
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

    fn take_place(&self, content: Content) -> anyhow::Result<()> {
        let named = match content {
            Content::Named(file, named) => Ok((file, named)),
            Content::Unnamed(file) => self.name(file),
        };
        named
            .and_then(|(file, named)| {
                named.persist(&self.place).map_err(|error| error.error)?;
                // Unlocked not before it has its place.
                drop(file);
                Ok(())
            })
            .with_context(|| cannot_write(&self.shown))?;
        self.sync_folder();
        Ok(())
    }

    /// Has the disk know the file by its name as well. Not every folder can be asked for that,
    /// and nothing is lost where it cannot.
    fn sync_folder(&self) {
        #[cfg(unix)]
        let _ = File::open(self.folder()).and_then(|folder| folder.sync_all());
    }

    /// Puts the file in its place, and keeps what was there.
    fn replace(self, content: Content) -> anyhow::Result<Replaced> {
        self.check_unchanged()?;
        let before = self.keep().with_context(|| cannot_write(&self.shown))?;
        if let Err(error) = self.take_place(content) {
            // It is still there, but where it could only be renamed.
            let missing = before.filter(|_| fs::symlink_metadata(&self.place).is_err());
            return Err(match missing.map(|before| self.put_back(before)) {
                Some(Err(left)) => error.context(left),
                _ => error,
            });
        }
        let target = self;
        Ok(Replaced { target, before })
    }

    /// Keeps what is in the place under a second name; `None` if nothing is there, or a folder,
    /// which no file replaces.
    fn keep(&self) -> io::Result<Option<TempPath>> {
        match fs::symlink_metadata(&self.place) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            there => {
                if there?.is_dir() {
                    return Ok(None);
                }
            }
        }
        // By a name that is not cleared: of a run that is killed it may be all that is left.
        let mut names = tempfile::Builder::new();
        names.prefix(".baler-replaced-").rand_bytes(16);
        let linked = names.make_in(self.folder(), |name| fs::hard_link(&self.place, name));
        if let Ok(linked) = linked {
            return Ok(Some(linked.into_temp_path()));
        }
        // Some file systems have no hard links, and some files may not be linked.
        let aside = names.make_in(self.folder(), |name| self.open_new(name))?;
        let aside = aside.into_temp_path();
        fs::rename(&self.place, &aside)?;
        Ok(Some(aside))
    }

    /// Puts back what was in the place; where that fails, it is not removed.
    fn put_back(&self, before: TempPath) -> anyhow::Result<()> {
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

    /// Gives a file what it takes over from the one that it replaces.
    fn liken(&self, file: &File) -> io::Result<()> {
        match &self.before {
            Some(before) => access::keep(file, &self.place, before),
            None => Ok(()),
        }
    }

    /// As any new file, the umask taken off; one that will replace another is its owner's alone
    /// until it has the permissions of that.
    #[cfg(unix)]
    const fn mode(&self) -> u32 {
        match self.before {
            None => 0o666,
            Some(_) => 0o600,
        }
    }

    fn write(&self, unnamed: Option<File>, content: &str) -> io::Result<Content> {
        let fill = |file: &mut File| {
            self.liken(file)?;
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
                Ok(Content::Named(file, named))
            }
        }
    }

    /// Creates a file without a name in the folder of the place; `None` if the file system has no such files.
    #[cfg(target_os = "linux")]
    fn unnamed(&self) -> Option<File> {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;
        // For writing and reading, should it have to be copied.
        let mut options = File::options();
        options.read(true).write(true).mode(self.mode());
        options.custom_flags(OFlags::TMPFILE.bits().cast_signed());
        let file = options.open(self.folder()).ok()?;
        // For when it gets a name. Where there are no locks, nobody clears.
        let _ = file.try_lock();
        Some(file)
    }

    #[cfg(not(target_os = "linux"))]
    fn unnamed(&self) -> Option<File> {
        None
    }

    /// A file with a name that nobody else has, beside the place.
    fn named(&self) -> io::Result<(File, TempPath)> {
        unfinished::make(self.folder(), |name| self.open_new(name))
    }

    /// Makes a file of this name. Not by `tempfile_in`, whose errors tell the name.
    fn open_new(&self, name: &Path) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, self.mode());
        options.open(name)
    }

    /// Gives a file without a name one beside the place.
    #[cfg(target_os = "linux")]
    fn name(&self, mut file: File) -> io::Result<(File, TempPath)> {
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
        // Without /proc, and on some file systems, it cannot be named.
        let (mut copy, named) = self.named()?;
        self.liken(&copy)?;
        file.seek(SeekFrom::Start(0))?;
        io::copy(&mut file, &mut copy)?;
        copy.sync_all()?;
        Ok((copy, named))
    }

    #[cfg(not(target_os = "linux"))]
    fn name(&self, _: File) -> io::Result<(File, TempPath)> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}
