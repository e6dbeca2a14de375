//! The record of sessions on disk: a file for each session, a line for each exchange. It holds sizes and counts, no text.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use baler_files::{FileError, private_folder};
use baler_models::clients::Usage;

use crate::newest;
use crate::session::{Action, Exchange};

/// Sessions that are kept, the newest.
const MOST: usize = 500;

/// The ending of their files.
const ENDING: &str = "jsonl";

/// The name of a session that is not known.
const UNNAMED: &str = "unnamed";

/// A folder of session records.
#[derive(Debug, Clone)]
pub struct Sessions(PathBuf);

/// What the exchanges of a session amount to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Total {
    /// Number of requests of the program.
    pub requests: usize,
    /// Number of compactions.
    pub compactions: usize,
    /// Number of requests that went on as an earlier compaction shows them.
    pub shown: usize,
    /// Number of these that were not answered, or with an error.
    pub failed: usize,
    /// Number of requests that a proxy only observed.
    pub shadows: usize,
    /// Tokens of all requests as they came, as baler counts them, without those that were refused.
    pub tokens_came: u64,
    /// Tokens of all requests as they went on; of a proxy that only observes, as they would have.
    pub tokens_sent: u64,
    /// What providers counted.
    pub usage: Usage,
}

impl Total {
    /// Adds an exchange.
    pub fn add(&mut self, exchange: &Exchange) {
        let [came, sent] = exchange.tokens.map(u64::from);
        // What is sent again, smaller or as it came, stands in place of what its provider refused.
        if exchange.again {
            self.failed = self.failed.saturating_sub(1);
        } else {
            self.requests += 1;
        }
        self.compactions += usize::from(exchange.action == Action::Compacted);
        self.shown += usize::from(exchange.action == Action::Shown);
        self.failed += usize::from(exchange.status >= 400 || exchange.status == 0);
        self.shadows += usize::from(exchange.shadow);
        if exchange.status < 400 {
            self.tokens_came += came;
            self.tokens_sent += sent;
        }
        self.usage += exchange.usage.unwrap_or_default();
    }
}

impl Sessions {
    /// Opens a folder, which is made if it does not exist, and removes the oldest sessions beyond 500.
    ///
    /// # Errors
    /// The folder cannot be made, or others can read or write it.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, FileError> {
        let sessions = Self(folder.into());
        private_folder(&sessions.0)?;
        newest::keep(&sessions.0, ENDING, MOST);
        Ok(sessions)
    }

    /// Adds an exchange to its session. For a new session the oldest one beyond 500 is removed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&self, exchange: &Exchange) -> io::Result<()> {
        let name = match exchange.session.as_str() {
            "" => UNNAMED,
            name => name,
        };
        let mut options = fs::OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut line = serde_json::to_vec(exchange)?;
        line.push(b'\n');
        let path = self.path(name);
        let is_new = !path.exists();
        // In one piece, since several proxies may write.
        options.open(path)?.write_all(&line)?;
        if is_new {
            newest::keep(&self.0, ENDING, MOST);
        }
        Ok(())
    }

    /// Returns the names of all sessions, the one with the newest exchange first.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let files = newest::files(&self.0, ENDING).into_iter().rev();
        let stem = |path: PathBuf| path.file_stem()?.to_str().map(str::to_owned);
        files.filter_map(stem).collect()
    }

    /// Returns the size of a session's record and when it changed last, for those who remember what is in it.
    #[must_use]
    pub fn stamp(&self, name: &str) -> Option<(u64, SystemTime)> {
        let metadata = fs::metadata(self.path(name)).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    }

    /// Returns the exchanges of a session, in their order. Lines that cannot be read are left out.
    ///
    /// # Errors
    /// There is no such session, or its file cannot be read.
    pub fn exchanges(&self, name: &str) -> io::Result<Vec<Exchange>> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let lines = BufReader::new(fs::File::open(self.path(name))?).split(b'\n');
        // What cannot be read once may never be, such as a folder of that name.
        let lines = lines.map_while(Result::ok);
        Ok(lines
            .filter_map(|line| serde_json::from_slice(&line).ok())
            .collect())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(Path::new(name).with_extension(ENDING))
    }
}
