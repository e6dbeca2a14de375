//! Reading a file, and no more of it than one may have.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// The most bytes of a file. No recorded conversation comes near it; a file of this size is the
/// wrong one.
const MOST: u64 = 1 << 30;

/// All bytes of a file.
///
/// # Errors
/// It cannot be read, or has more than [`MOST`].
pub(crate) fn read(file: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(file)?;
    // What has no end, or grows while it is read, tells another length.
    if file.metadata()?.len() > MOST {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(too_large());
    }
    Ok(bytes)
}

/// The same as text.
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
        "it has more than 1 GiB, the most of a file that is read; split it, or name another one",
    )
}
