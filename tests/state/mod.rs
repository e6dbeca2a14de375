//! The program's state folder in tests that run it. In a debug build it takes seconds to compile a
//! strategy, so all that run one build of the program share what it compiled; all else in a state
//! folder is a test's own.

use std::path::{Path, PathBuf};

/// The folder `state` in `folder`, made where it is not there.
pub(crate) fn in_folder(folder: &Path) -> PathBuf {
    let state = folder.join("state");
    #[cfg(unix)]
    if !state.exists() {
        shared::make(&state).expect("a state folder");
    }
    state
}

#[cfg(unix)]
mod shared {
    use std::fs::{self, DirBuilder, OpenOptions};
    use std::io::{self, Write as _};
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, symlink};
    use std::path::{Path, PathBuf};
    use std::time::UNIX_EPOCH;

    /// Compiled code counts only for the key that it was stored under.
    const KEY: [u8; 32] = [7; 32];

    const PREFIX: &str = "compiled-";

    pub(super) fn make(state: &Path) -> io::Result<()> {
        let compiled = compiled()?;
        private().create(state)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        options.open(state.join("key"))?.write_all(&KEY)?;
        symlink(compiled, state.join("compiled"))
    }

    /// A folder for each build of the program: another one may compile otherwise.
    fn compiled() -> io::Result<PathBuf> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let built = fs::metadata(env!("CARGO_BIN_EXE_baler"))?.modified()?;
        let built = built.duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("{PREFIX}{}", built.as_nanos());
        let own = folder.join(&name);
        if !own.exists() {
            remove_earlier(folder, &name);
            private().recursive(true).create(&own)?;
        }
        Ok(own)
    }

    /// What cannot be removed stays: it is only in nobody's way.
    fn remove_earlier(folder: &Path, own: &str) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(PREFIX) && name != own {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// The program refuses folders that others can write into, whatever the umask is.
    fn private() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder
    }
}
