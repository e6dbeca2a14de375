//! Reads files up to a limit.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// The most bytes of a file, far more than a recorded conversation has.
const MAX_BYTES: u64 = 1 << 30;

/// Reads all bytes of a file.
///
/// # Errors
/// The file cannot be read, or has more than [`MAX_BYTES`].
pub(crate) fn read(file: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(file)?;
    // The length of a device, or of a file that grows, can be wrong, so `take` limits the read as well.
    if file.metadata()?.len() > MAX_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Reads a file as text.
pub(crate) fn read_text(file: &Path) -> io::Result<String> {
    String::from_utf8(read(file)?).map_err(|_| {
        io::Error::new(
            ErrorKind::InvalidData,
            "expected text, and it is not valid UTF-8",
        )
    })
}

fn too_large() -> io::Error {
    io::Error::new(
        ErrorKind::FileTooLarge,
        "it has more than 1 GiB, which is the limit; split it, or name another file",
    )
}
