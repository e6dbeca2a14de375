//! Reads files that a person named, up to a maximum size and without waiting for pipes or devices; and
//! finds out whether two paths are the same file.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::anyhow;
use baler_host::{Archive, conversation::session_logs::LogKind};

use crate::exit::Failure;
use crate::figures;

/// Maximum bytes of a conversation. No context window holds nearly as much, so a larger file is the wrong one.
pub(crate) const LARGEST_CONVERSATION: u64 = 1 << 30;

/// Reads all of `source`; `None` if it has more than `limit` bytes.
pub(crate) fn bounded(source: impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Returns the text without the byte order mark that some programs put before UTF-8. JSON has none.
pub(crate) fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Opens a regular file; fails for anything else. Reading a pipe that no program writes to would never end,
/// nor would reading a device.
pub(crate) fn regular(file: &Path) -> anyhow::Result<File> {
    // Checked before, because opening a device may have effects, and after, because the file may have been
    // replaced in between.
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

fn is_regular(metadata: &Metadata) -> anyhow::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let found = if metadata.is_dir() {
        "a folder"
    } else {
        found(metadata.file_type())
    };
    Err(anyhow!("expected a regular file, found {found}"))
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
    "another kind of file"
}

/// Returns the folder of a path, whether a file is there or not.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns whether `output` is the file that `input` is read from. `-` and `None` mean standard input.
pub(crate) fn is_input(output: &Path, input: Option<&Path>) -> bool {
    match input.filter(|file| *file != Path::new("-")) {
        Some(file) => is_same(output, file),
        None => are(is_one, standard_input(), fs::metadata(output).ok()),
    }
}

/// Returns whether two paths lead to the same file or folder, or would if it existed: also through symbolic
/// and hard links, and through folders that are mounted in several places.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    if place(one).is_some_and(|one| place(other) == Some(one)) {
        return true;
    }
    let look = |path: &Path| fs::metadata(path).ok();
    match (look(one), look(other)) {
        (None, None) => {
            let is_one_name = one.file_name().is_some() && one.file_name() == other.file_name();
            let folders = (look(folder_of(one)), look(folder_of(other)));
            is_one_name && are(is_one, folders.0, folders.1)
        }
        (one, other) => are(is_one, one, other),
    }
}

/// Returns whether content written to both paths ends up in one place: the same file, pipe or socket.
pub(crate) fn mixes(one: &Path, other: &Path) -> bool {
    is_same(one, other)
        || are(
            is_one_stream,
            fs::metadata(one).ok(),
            fs::metadata(other).ok(),
        )
}

/// Returns whether content written to this file ends up in the same place as standard output.
pub(crate) fn mixes_with_standard_output(file: &Path) -> bool {
    is_standard_output(file) || are(is_one_stream, standard_output(), fs::metadata(file).ok())
}

/// Returns the path with links resolved; if the file does not exist, with the links of its folder resolved.
pub(crate) fn place(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = folder_of(path).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    })
}

/// Returns whether standard output goes to this file.
pub(crate) fn is_standard_output(file: &Path) -> bool {
    are(is_one, standard_output(), fs::metadata(file).ok())
}

/// Returns whether standard output goes to the file that `input` is read from. `-` and `None` mean standard
/// input.
pub(crate) fn is_output_the_input(input: Option<&Path>) -> bool {
    match input.filter(|file| *file != Path::new("-")) {
        Some(file) => is_standard_output(file),
        None => are(is_one, standard_input(), standard_output()),
    }
}

/// Fails if standard output goes to the file that `input` is read from. The output would be appended to that
/// file, which could then no longer be read. `-` and `None` mean standard input.
pub(crate) fn check_output_is_apart(input: Option<&Path>) -> Result<(), Failure> {
    if !is_output_the_input(input) {
        return Ok(());
    }
    let input = input.unwrap_or(Path::new("-"));
    Err(Failure::wrong_use(anyhow!(
        "standard output goes to the file that is read (`{}`), and would be appended to it; redirect it to another file",
        input.display()
    )))
}

/// Fails if the file of an option would replace a file that the run reads or keeps, or a file of any archive.
pub(crate) fn check_not_in_use(
    option: &str,
    target: &Path,
    in_use: &[PathBuf],
) -> Result<(), Failure> {
    if place(target).is_some_and(|place| Archive::owns(&place)) {
        return Err(Failure::wrong_use(anyhow!(
            "`{option}` names a file of an archive, and would replace archived content: `{}`; name another file",
            target.display()
        )));
    }
    // The program that wrote it needs it, and what baler writes holds less.
    if let Some(kind) = log_in(target) {
        return Err(Failure::wrong_use(anyhow!(
            "`{option}` would replace the {kind} log `{}` by something that holds less; name another file",
            target.display()
        )));
    }
    match in_use.iter().find(|other| mixes(target, other)) {
        None => Ok(()),
        Some(other) => Err(Failure::wrong_use(anyhow!(
            "`{option}` names a file that is in use for something else, and would replace it: `{}`; name another file",
            other.display()
        ))),
    }
}

/// Returns the program whose session log a file is; `None` if it is another file, or a log that baler does not read.
fn log_in(file: &Path) -> Option<LogKind> {
    let bytes = bounded(regular(file).ok()?, LARGEST_CONVERSATION).ok()??;
    LogKind::of(std::str::from_utf8(without_byte_order_mark(&bytes)).ok()?)
}

/// Returns whether both are known, and `is` says so of them.
fn are(
    is: fn(&Metadata, &Metadata) -> bool,
    one: Option<Metadata>,
    other: Option<Metadata>,
) -> bool {
    one.zip(other).is_some_and(|(one, other)| is(&one, &other))
}

/// Returns the metadata of standard input, if the system provides it.
pub(crate) fn standard_input() -> Option<Metadata> {
    metadata_of(io::stdin())
}

/// Returns the metadata of standard output, if the system provides it.
fn standard_output() -> Option<Metadata> {
    metadata_of(io::stdout())
}

#[cfg(unix)]
fn metadata_of(stream: impl std::os::fd::AsFd) -> Option<Metadata> {
    let stream = stream.as_fd().try_clone_to_owned().ok()?;
    File::from(stream).metadata().ok()
}

#[cfg(not(unix))]
fn metadata_of<S>(_: S) -> Option<Metadata> {
    None
}

/// Returns whether both are the same regular file or folder. Terminals and devices do not count, because two
/// purposes can share one. Neither do pipes and sockets, because one socket can be both read and written
/// ([`is_one_stream`]).
#[cfg(unix)]
fn is_one(one: &Metadata, other: &Metadata) -> bool {
    (one.is_file() || one.is_dir()) && id(one) == id(other)
}

/// Other systems compare paths only.
#[cfg(not(unix))]
fn is_one(_: &Metadata, _: &Metadata) -> bool {
    false
}

/// Returns whether both are the same pipe or socket. Some systems give these no number; then it is unknown.
#[cfg(unix)]
fn is_one_stream(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = one.file_type();
    (kind.is_fifo() || kind.is_socket()) && id(one).1 != 0 && id(one) == id(other)
}

/// Other systems compare paths only.
#[cfg(not(unix))]
fn is_one_stream(_: &Metadata, _: &Metadata) -> bool {
    false
}

/// Returns the number of the file system and of the file in it, which no two files share at the same time.
#[cfg(unix)]
pub(crate) fn id(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

/// The identity of a regular file that was read, which changes when the file is written to or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    #[cfg(unix)]
    id: (u64, u64),
    size: u64,
    /// `None` if the system does not record it.
    written: Option<SystemTime>,
}

impl Seen {
    /// Returns the identity of a regular file; `None` for anything else.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        metadata.is_file().then(|| Self {
            #[cfg(unix)]
            id: id(metadata),
            size: metadata.len(),
            written: metadata.modified().ok(),
        })
    }
}

/// Returns the error for an input that is larger than its limit.
pub(crate) fn too_large(limit: u64, why: &str) -> anyhow::Error {
    anyhow!("it has more than {}, {why}", figures::bytes(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_reads_up_to_its_limit() {
        assert_eq!(
            bounded(&b"1234"[..], 4).expect("reads"),
            Some(b"1234".to_vec())
        );
        assert_eq!(bounded(&b"12345"[..], 4).expect("reads"), None);
        assert_eq!(bounded(io::repeat(0), 1 << 16).expect("reads"), None);
    }

    #[cfg(unix)]
    #[test]
    fn is_same_resolves_links_and_folders() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "1").expect("writes");
        fs::write(path("copy"), "1").expect("writes");
        fs::hard_link(path("file"), path("hard")).expect("a link");
        symlink(path("file"), path("soft")).expect("a link");
        symlink(folder.path(), path("folder")).expect("a link");
        for same in ["file", "hard", "soft", "folder/file", "./folder/hard"] {
            assert!(is_same(&path("file"), &path(same)), "{same}");
        }
        for other in ["copy", "new", "folder", "new/file"] {
            assert!(!is_same(&path("file"), &path(other)), "{other}");
        }
        // For files that do not exist yet, the folder and the name are compared.
        assert!(is_same(&path("new"), &path("folder/new")));
        assert!(!is_same(&path("new"), &path("folder/newer")));
        // Two outputs may go to one device.
        symlink("/dev/null", path("null")).expect("a link");
        let null = fs::metadata("/dev/null").expect("there");
        assert!(!is_one(&null, &null));
    }

    #[test]
    fn seen_differs_after_a_file_is_written_to_or_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let look = || Seen::of(&fs::metadata(&path).expect("there"));
        let date = |file: &File| {
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_nanos(1_000_000_007);
            file.set_modified(time).expect("is set");
        };
        fs::write(&path, "1234").expect("writes");
        let file = File::options().append(true).open(&path).expect("opens");
        date(&file);
        let seen = look();
        assert!(seen.is_some());
        assert_eq!(look(), seen);
        // The same size, a nanosecond later.
        let later = SystemTime::UNIX_EPOCH + std::time::Duration::from_nanos(1_000_000_008);
        file.set_modified(later).expect("is set");
        // Some file systems keep no nanoseconds.
        if file.metadata().expect("there").modified().ok() == Some(later) {
            assert_ne!(look(), seen);
        }
        // A different size, the same time.
        file.set_len(5).expect("grows");
        date(&file);
        assert_ne!(look(), seen);
        file.set_len(4).expect("shrinks");
        date(&file);
        assert_eq!(look(), seen);
        // Another file with the same size and time.
        #[cfg(unix)]
        {
            let other = folder.path().join("other");
            fs::write(&other, "1234").expect("writes");
            date(&File::options().append(true).open(&other).expect("opens"));
            fs::rename(&other, &path).expect("renames");
            assert_ne!(look(), seen);
        }
        assert_eq!(Seen::of(&fs::metadata(folder.path()).expect("there")), None);
    }
}
