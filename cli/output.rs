//! Where things go: documents to standard output or files, words for people to standard error.

use std::error::Error as _;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, anyhow};
use tempfile::NamedTempFile;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const CHANGED: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// `text` in `style`. Whether it is shown in colour is decided where it is written.
pub(crate) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Whoever read standard output wants no more, which is no failure.
#[derive(Debug)]
pub(crate) struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard output is closed")
    }
}

impl std::error::Error for Closed {}

/// Writes a document to standard output, byte for byte. Only on a terminal it is made to end
/// with a line.
pub(crate) fn document(parts: &[&str]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let ends_line = parts.last().is_none_or(|last| last.ends_with('\n'));
    let line_end = if stdout.is_terminal() && !ends_line {
        "\n"
    } else {
        ""
    };
    let written = parts
        .iter()
        .chain(&[line_end])
        .try_for_each(|part| stdout.write_all(part.as_bytes()))
        .and_then(|()| stdout.flush());
    reported(written)
}

/// Writes words for people to standard output, in colour where that is a terminal.
pub(crate) fn words(text: &str) -> anyhow::Result<()> {
    let mut stdout = anstream::stdout().lock();
    reported(
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush()),
    )
}

fn reported(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Closed.into()),
        written => written.context("cannot write to standard output"),
    }
}

/// Standard error, in colour where it is a terminal; or nothing where it should be quiet.
/// Nobody can be told that it does not work, so its errors are dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Messages {
    pub(crate) quiet: bool,
}

impl Messages {
    pub(crate) fn say(self, text: &str) {
        if !self.quiet {
            to_stderr(text);
        }
    }

    pub(crate) fn warn(self, text: &str) {
        self.say(&format!("{} {text}\n", styled(CHANGED.bold(), "warning:")));
    }
}

/// Says what failed, however quiet it should be.
pub(crate) fn error(text: &str) {
    to_stderr(&format!("{} {text}\n", styled(BAD.bold(), "error:")));
}

fn to_stderr(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// A file that will be written whole or not at all.
#[derive(Debug)]
pub(crate) enum WholeFile {
    /// Written beside its place, then moved there.
    Regular {
        place: PathBuf,
        written: NamedTempFile,
    },
    /// A pipe or device, which cannot be replaced.
    Special { place: PathBuf, file: File },
}

impl WholeFile {
    /// Begins the file, so that one that cannot be written is known before any work is done.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        Self::begin(path).with_context(|| format!("cannot write `{}`", path.display()))
    }

    fn begin(path: &Path) -> anyhow::Result<Self> {
        // What a link leads to is replaced, not the link.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = fs::metadata(&place).ok();
        if let Some(before) = &before {
            if before.is_dir() {
                return Err(anyhow!("it is a folder; name a file in it"));
            }
            if !before.is_file() {
                let file = File::options().write(true).open(&place)?;
                return Ok(Self::Special { place, file });
            }
            if before.permissions().readonly() {
                return Err(anyhow!("it is read-only"));
            }
        }
        let folder = match place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".baler-");
        #[cfg(unix)]
        if before.is_none() {
            // As any new file, the umask taken off; a temporary one is its owner's alone.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let written = builder.tempfile_in(folder).map_err(|error| {
            // Without the temporary file's name, which says nothing to anybody.
            let why = error
                .source()
                .map_or_else(|| error.to_string(), ToString::to_string);
            anyhow!("{why}; name a file in a folder that is there and that you may write to")
        })?;
        if let Some(before) = before {
            fs::set_permissions(written.path(), before.permissions())?;
        }
        Ok(Self::Regular { place, written })
    }

    /// Puts the file in its place with this content.
    pub(crate) fn finish(self, content: &str) -> anyhow::Result<()> {
        let (place, done) = match self {
            Self::Regular { place, mut written } => {
                let done = written
                    .write_all(content.as_bytes())
                    .and_then(|()| written.as_file().sync_all())
                    .and_then(|()| written.persist(&place).map_err(|error| error.error));
                (place, done.map(drop))
            }
            Self::Special { place, mut file } => (place, file.write_all(content.as_bytes())),
        };
        done.with_context(|| format!("cannot write `{}`", place.display()))
    }
}
