//! Reading files that a person named: never more of one than it may have, and never waiting for
//! what is no file.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::figures;

/// All of `source`; none where it has more than `limit` bytes.
pub(crate) fn bounded(source: impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Opens a file that has to be a regular one. A pipe that nobody writes to would hold the
/// program for ever, and a device has no end.
pub(crate) fn regular(file: &Path) -> anyhow::Result<File> {
    // Looked at before, as opening a device may do something; and after, as what stands there
    // may be another one by then.
    is_regular(&fs::metadata(file)?)?;
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let without_waiting = OFlags::NONBLOCK | OFlags::NOCTTY;
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            without_waiting.bits().cast_signed(),
        );
    }
    let opened = options.open(file)?;
    is_regular(&opened.metadata()?)?;
    Ok(opened)
}

fn is_regular(metadata: &fs::Metadata) -> anyhow::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let found = if metadata.is_dir() {
        "a folder"
    } else {
        found(metadata.file_type())
    };
    Err(anyhow!("expected a regular file, and it is {found}"))
}

#[cfg(unix)]
fn found(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        "a pipe (FIFO)"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn found(_: fs::FileType) -> &'static str {
    "another kind of thing"
}

/// The folder that a file is in, or would be.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether `output` is the file that `input` is read from; standard input where that is `-`, or
/// nothing was named.
pub(crate) fn is_input(output: &Path, input: Option<&Path>) -> bool {
    match input.filter(|file| *file != Path::new("-")) {
        Some(file) => place(file).is_some_and(|input| place(output) == Some(input)),
        None => is_standard_input(output),
    }
}

/// Where a file is, or would be if it were there, whatever way its path takes.
pub(crate) fn place(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = folder_of(path).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    })
}

/// Whether standard input is read from this file. One terminal for both is no such file.
#[cfg(unix)]
fn is_standard_input(file: &Path) -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;
    let input = io::stdin().as_fd().try_clone_to_owned();
    let input = input.and_then(|input| File::from(input).metadata());
    match (input, fs::metadata(file)) {
        (Ok(input), Ok(file)) => {
            file.is_file() && input.dev() == file.dev() && input.ino() == file.ino()
        }
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_standard_input(_: &Path) -> bool {
    false
}

/// What to say of a text that has more than it may have.
pub(crate) fn too_large(limit: u64, why: &str) -> anyhow::Error {
    anyhow!("it has more than {}, {why}", figures::bytes(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_reads_up_to_its_limit_and_no_endless_source() {
        assert_eq!(
            bounded(&b"1234"[..], 4).expect("reads"),
            Some(b"1234".to_vec())
        );
        assert_eq!(bounded(&b"12345"[..], 4).expect("reads"), None);
        assert_eq!(bounded(io::repeat(0), 1 << 16).expect("reads"), None);
    }
}
