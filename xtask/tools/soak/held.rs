//! What the process holds.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};

/// Growth of memory that is none: allocators keep what was freed, as much as was in use at once.
const SLACK_KIB: u64 = 64 << 10;

/// What the process holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    memory_kib: u64,
    descriptors: usize,
    threads: u64,
    files: usize,
}

impl Held {
    pub(crate) fn now(state: &Path) -> anyhow::Result<Self> {
        let status = fs::read_to_string("/proc/self/status").context("this needs Linux")?;
        let number = |name: &str| -> anyhow::Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next());
            Ok(number.context("no such line")?.parse()?)
        };
        Ok(Self {
            memory_kib: number("VmRSS:")?,
            descriptors: fs::read_dir("/proc/self/fd")?.count(),
            threads: number("Threads:")?,
            files: files_below(state)?,
        })
    }

    /// Checks that nothing has grown since.
    pub(crate) fn ensure_not_less_than(&self, now: &Self) -> anyhow::Result<()> {
        let most = self.memory_kib + SLACK_KIB;
        ensure!(
            now.memory_kib <= most,
            "memory grew to {} KiB, above {most}",
            now.memory_kib
        );
        ensure!(
            now.descriptors <= self.descriptors,
            "descriptors are left open"
        );
        ensure!(now.threads <= self.threads, "threads are left");
        ensure!(
            now.files <= self.files,
            "files are left in the state folder"
        );
        Ok(())
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} MiB of memory, {} descriptors, {} threads, {} files",
            self.memory_kib >> 10,
            self.descriptors,
            self.threads,
            self.files
        )
    }
}

fn files_below(folder: &Path) -> anyhow::Result<usize> {
    let mut files = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        files += if entry.file_type()?.is_dir() {
            files_below(&entry.path())?
        } else {
            1
        };
    }
    Ok(files)
}
