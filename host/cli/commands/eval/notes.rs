//! The file of `--resume`: the run's fingerprint, and a line for each finished conversation.

#[cfg(unix)]
use std::fs::TryLockError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, anyhow};
use baler_eval::corpus::Recording;
use baler_eval::{Evaluation, RunFingerprint};

use crate::exit::Failure;
use crate::output::Messages;
use crate::{figures, files, links};

/// The file, locked for this run.
#[derive(Debug)]
pub(in crate::commands) struct Notes {
    shown: PathBuf,
    file: Mutex<File>,
}

impl Notes {
    /// Adds a line, whole or not at all: after half a line, which a full disk would leave, the next line
    /// would be unreadable as well.
    pub(in crate::commands) fn add(&self, line: &str) -> anyhow::Result<()> {
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

/// Returns the figures of an earlier run with the same fingerprint, and the file for those of this run.
pub(in crate::commands) fn resumed(
    file: &Path,
    fingerprint: &RunFingerprint,
    records: &[Recording],
) -> Result<(Evaluation, Notes), Failure> {
    let opened = open(file)?;
    let resumed = Evaluation::resume(file, fingerprint, records).map_err(Failure::wrong_use)?;
    cut_unfinished_line(file)?;
    let notes = Notes {
        shown: file.to_owned(),
        file: Mutex::new(opened),
    };
    let Some(resumed) = resumed else {
        let line = serde_json::to_string(fingerprint).context("cannot write what is measured")?;
        notes.add(&line)?;
        return Ok((Evaluation::default(), notes));
    };
    if let Some(first) = resumed.unreadable_lines.first() {
        Messages { quiet: false }.warn(&format!(
            "{} of `{}` cannot be read as figures, the first of them line {first}; their conversations are measured again",
            figures::count(resumed.unreadable_lines.len(), "line"),
            file.display()
        ));
    }
    Ok((resumed.done, notes))
}

/// Returns the lines of an earlier run of `baler tune` with the same first line, and the file for those of this run.
pub(in crate::commands) fn scores(
    file: &Path,
    first: &str,
) -> Result<(Vec<String>, Notes), Failure> {
    let opened = open(file)?;
    let bytes = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    // Checked before anything is cut off: it may be a file of something else.
    if !bytes.is_empty() && !bytes.starts_with(format!("{first}\n").as_bytes()) {
        return Err(Failure::wrong_use(anyhow!(
            "`{}` holds scores of something else: another strategy, goal, budget or version; name another file",
            file.display()
        )));
    }
    cut_unfinished_line(file)?;
    let notes = Notes {
        shown: file.to_owned(),
        file: Mutex::new(opened),
    };
    if bytes.is_empty() {
        notes.add(first)?;
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().skip(1).map(str::to_owned);
    Ok((lines.collect(), notes))
}

/// Opens the file for this run alone.
fn open(file: &Path) -> Result<File, Failure> {
    let place = links::followed(file)
        .with_context(|| format!("cannot resume from `{}`", file.display()))
        .map_err(Failure::wrong_use)?;
    // Pipes and devices cannot be read to their end and then appended to.
    if fs::exists(&place).unwrap_or(true) {
        files::regular(&place)
            .with_context(|| format!("cannot resume from `{}`", file.display()))
            .map_err(Failure::wrong_use)?;
    }
    let opened = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&place)
        .with_context(|| format!("cannot write `{}`", file.display()))?;
    lock(&opened, file)?;
    Ok(opened)
}

/// Locks the file as long as `notes` is open. Two runs would measure the same conversations, and cut off
/// lines that the other is writing. If the file system has no locks, the run continues without one.
#[cfg(unix)]
fn lock(notes: &File, file: &Path) -> Result<(), Failure> {
    match notes.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Failure::wrong_use(anyhow!(
            "another run is writing to `{}`; wait until it ends, or name another file by --resume",
            file.display()
        ))),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// On other systems, a lock would prevent this run itself from reading the file a second time.
#[cfg(not(unix))]
fn lock(_: &File, _: &Path) -> Result<(), Failure> {
    Ok(())
}

/// Removes a line that an earlier run did not finish. It may end within a character.
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
