//! The file of `--resume`: what is measured, and a line for each conversation that is finished.

#[cfg(unix)]
use std::fs::TryLockError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, anyhow};
use baler_eval::corpus::Recorded;
use baler_eval::{Evaluation, Measuring};

use crate::exit::Failure;
use crate::output::Messages;
use crate::{figures, files, links};

/// The file, which this run alone writes to.
#[derive(Debug)]
pub(super) struct Notes {
    shown: PathBuf,
    file: Mutex<File>,
}

impl Notes {
    /// Adds a line, whole or not at all: behind half a line, as a full disk leaves it, the next one
    /// would be lost, too.
    pub(super) fn add(&self, line: &str) -> anyhow::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut write = || -> io::Result<()> {
            let before = file.metadata()?.len();
            file.write_all(format!("{line}\n").as_bytes())
                .inspect_err(|_| {
                    let _ = file.set_len(before);
                })
        };
        write().with_context(|| format!("cannot write `{}`", self.shown.display()))
    }
}

/// What an earlier run measured of the same, and the file for what is measured now.
pub(super) fn resumed(
    file: &Path,
    measuring: &Measuring,
    records: &[Recorded],
) -> Result<(Evaluation, Notes), Failure> {
    links::check_owners(file)
        .with_context(|| format!("cannot resume from `{}`", file.display()))
        .map_err(Failure::wrong_use)?;
    // It is read to its end and written on: of a pipe or device neither can be done.
    if fs::exists(file).unwrap_or(true) {
        files::regular(file)
            .with_context(|| format!("cannot resume from `{}`", file.display()))
            .map_err(Failure::wrong_use)?;
    }
    let opened = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .with_context(|| format!("cannot write `{}`", file.display()))?;
    lock(&opened, file)?;
    let resumed = Evaluation::resume(file, measuring, records).map_err(Failure::wrong_use)?;
    cut_unfinished_line(file)?;
    let notes = Notes {
        shown: file.to_owned(),
        file: Mutex::new(opened),
    };
    let Some(resumed) = resumed else {
        let line = serde_json::to_string(measuring).context("cannot note what is measured")?;
        notes.add(&line)?;
        return Ok((Evaluation::default(), notes));
    };
    if let Some(first) = resumed.unread.first() {
        Messages { quiet: false }.warn(&format!(
            "{} of `{}` cannot be read as figures, the first of them line {first}; what stood there is measured again",
            figures::count(resumed.unread.len(), "line"),
            file.display()
        ));
    }
    Ok((resumed.done, notes))
}

/// Keeps other runs from the file as long as `notes` is open: each would measure what the other has
/// begun, and cut off a line that the other is writing. Where files cannot be locked, none is kept
/// from it.
#[cfg(unix)]
fn lock(notes: &File, file: &Path) -> Result<(), Failure> {
    match notes.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Failure::wrong_use(anyhow!(
            "another run of `baler eval` is writing to `{}`; wait until it ends, or name another file by --resume",
            file.display()
        ))),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Elsewhere a lock would hinder this run itself, which reads the file a second time.
#[cfg(not(unix))]
fn lock(_: &File, _: &Path) -> Result<(), Failure> {
    Ok(())
}

/// Takes off a line that an earlier run did not finish; it may end within a character.
fn cut_unfinished_line(file: &Path) -> anyhow::Result<()> {
    if let Ok(bytes) = fs::read(file)
        && !bytes.ends_with(b"\n")
    {
        let whole = bytes.iter().rposition(|&byte| byte == b'\n');
        let whole = whole.map_or(0, |end| end + 1);
        let cut = OpenOptions::new().write(true).open(file);
        cut.and_then(|file| file.set_len(whole as u64))
            .with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    Ok(())
}
