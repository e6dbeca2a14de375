//! Where things go: documents and words for people to standard output, what is said beside them
//! to standard error. Words pass `visible` here, so no text makes a terminal act.

use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use anyhow::Context as _;

use crate::stdout;
pub(crate) use crate::visible::styled;
use crate::visible::{line, visible, visible_json};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const CHANGED: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Whoever read standard output left before all was written.
#[derive(Debug)]
struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "standard output was closed before the whole result was written; what was written of it is not complete",
        )
    }
}

impl std::error::Error for Closed {}

/// Writes a result to standard output, byte for byte. On a terminal it is made to end with a
/// line, and what the terminal would act on is spelled as JSON spells it.
///
/// # Errors
/// It cannot be written whole, also where its reader left.
pub(crate) fn document(parts: &[&str]) -> anyhow::Result<()> {
    in_full(stdout::open().and_then(|stdout| write_document(stdout, parts)))
}

/// Writes JSON that answers a question, such as a list. A reader may leave before its end.
pub(crate) fn listing(text: &str) -> anyhow::Result<()> {
    as_far_as_wanted(stdout::open().and_then(|stdout| write_document(stdout, &[text])))
}

/// Writes words for people to standard output, in colour where that is a terminal. A reader
/// may leave before their end.
pub(crate) fn words(text: &str) -> anyhow::Result<()> {
    as_far_as_wanted(write_words(text))
}

/// Writes words that are the result of a run.
///
/// # Errors
/// They cannot be written whole, also where their reader left.
#[cfg(feature = "eval")]
pub(crate) fn words_in_full(text: &str) -> anyhow::Result<()> {
    in_full(write_words(text))
}

/// Writes help, in the styles that it comes in. A reader may leave before its end.
pub(crate) fn help(text: &str) -> anyhow::Result<()> {
    as_far_as_wanted(stdout::open().and_then(|stdout| {
        let mut stdout = anstream::AutoStream::auto(stdout);
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }))
}

/// Writes a result to what is open already, as [`document`] says.
pub(crate) fn write_document(mut to: impl Write + IsTerminal, parts: &[&str]) -> io::Result<()> {
    if to.is_terminal() {
        for part in parts {
            to.write_all(visible_json(part).as_bytes())?;
        }
        let ends_line = parts.last().is_none_or(|last| last.ends_with('\n'));
        to.write_all(if ends_line { "" } else { "\n" }.as_bytes())?;
    } else {
        for part in parts {
            to.write_all(part.as_bytes())?;
        }
    }
    to.flush()
}

fn write_words(text: &str) -> io::Result<()> {
    let mut stdout = anstream::AutoStream::auto(stdout::open()?);
    stdout.write_all(visible(text).as_bytes())?;
    stdout.flush()
}

fn in_full(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Closed.into()),
        written => written.context("cannot write to standard output"),
    }
}

fn as_far_as_wanted(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// Standard error, in colour where it is a terminal; or nothing where it should be quiet.
/// If writing to it fails, there is no place to report that, so its errors are ignored.
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

    /// Says what a run is for. A reader may leave before its end.
    ///
    /// # Errors
    /// It cannot be written. Often nobody can read that, but the exit code tells it.
    pub(crate) fn say_as_result(self, text: &str) -> anyhow::Result<()> {
        if self.quiet {
            return Ok(());
        }
        let written = stdout::open_stderr().and_then(|stderr| {
            let mut stderr = anstream::AutoStream::auto(stderr);
            stderr.write_all(visible(text).as_bytes())?;
            stderr.flush()
        });
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written.context("cannot write to standard error"),
        }
    }

    pub(crate) fn warn(self, text: &str) {
        let warning = styled(CHANGED.bold(), "warning:");
        self.say(&format!("{warning} {}\n", line(text)));
    }
}

/// Says what failed, however quiet it should be.
pub(crate) fn error(text: &str) {
    to_stderr(&format!("{} {text}\n", styled(BAD.bold(), "error:")));
}

fn to_stderr(text: &str) {
    let _ = anstream::stderr()
        .lock()
        .write_all(visible(text).as_bytes());
}
