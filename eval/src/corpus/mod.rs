//! Recorded conversations, from a folder.
//!
//! What a file holds is told by its shape: a request body, the log of a session, a run of an
//! agent with its messages in it, a list of such runs, requests recorded as YAML, or chats in
//! Markdown. A file of another shape counts as none.
//!
//! Beside the messages of a JSON object there may be `questions` about them.

mod folder;
mod json;
mod markdown;
mod questions;
mod yaml;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

pub use questions::Question;
use sha2::{Digest as _, Sha256};

use crate::bounded;

/// One recorded conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The set that it belongs to: the first folder on the way to its file.
    pub set: String,
    /// Its file and its place in there: enough to find it again.
    pub id: String,
    /// What the document is.
    pub kind: Kind,
    /// The wire format by the name that the host knows, such as `openai-chat`. For a log: that
    /// of the requests that it stands for.
    pub format: &'static str,
    /// A request body, or its list of messages; or the text of a log.
    pub document: String,
    /// Values that a task asked for: calls with their arguments, where that was recorded.
    pub wanted: Vec<WantedCall>,
    /// Questions that the set asks about it; or what is wrong with them, and where. They are no
    /// part of the document.
    pub questions: Result<Vec<Question>, String>,
}

impl Recorded {
    /// The beginning of a SHA-256 over all that is measured: figures of a recording that was changed
    /// since are not of this one.
    #[must_use]
    pub fn digest(&self) -> String {
        let beside = format!(
            "{:?}",
            (self.kind, self.format, &self.wanted, &self.questions)
        );
        let mut sha256 = Sha256::new();
        // The length says where the one ends and the other begins.
        sha256.update((beside.len() as u64).to_le_bytes());
        sha256.update(beside.as_bytes());
        sha256.update(self.document.as_bytes());
        let digest = sha256.finalize();
        let start = digest.iter().take(16);
        let hex: String = start.map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{hex}")
    }
}

/// What was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A request body, or its list of messages.
    Document,
    /// What an agent's program wrote down of a session.
    Log,
}

/// A call that solves a task.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: serde_json::Value,
}

// JSON without floats that are not numbers compares to itself.
impl Eq for WantedCall {}

/// A conversation of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its place in there.
    pub(crate) place: usize,
    pub(crate) format: &'static str,
    pub(crate) document: String,
    pub(crate) wanted: Vec<WantedCall>,
    pub(crate) questions: Result<Vec<Question>, String>,
}

impl Found {
    pub(crate) fn new(place: usize, format: &'static str, document: impl Into<String>) -> Self {
        Self {
            place,
            format,
            document: document.into(),
            wanted: Vec::new(),
            questions: Ok(Vec::new()),
        }
    }
}

/// What the host calls the format of OpenAI Chat Completions.
pub const CHAT: &str = "openai-chat";

/// What the host calls the format of Anthropic Messages.
pub const ANTHROPIC: &str = "anthropic";

/// What the host calls the format of OpenAI Responses.
pub const RESPONSES: &str = "openai-responses";

/// What the host calls the format of Gemini's `generateContent`.
pub const GEMINI: &str = "gemini";

/// The conversations of a folder.
#[derive(Debug, Default)]
pub struct Corpus {
    /// In the same order each time.
    pub conversations: Vec<Recorded>,
    /// Files and folders that could not be read, and why.
    pub unread: Vec<(PathBuf, io::Error)>,
}

impl Corpus {
    /// Reads all files of a folder and of those in it. None where it is not there.
    #[must_use]
    pub fn read(folder: &Path) -> Option<Self> {
        if !folder.is_dir() {
            return None;
        }
        let mut corpus = Self::default();
        for path in folder::files(folder, &mut corpus.unread) {
            // What no reader is for need not be text.
            if !READ.contains(&&*ending(&path)) {
                continue;
            }
            let own = path.strip_prefix(folder).unwrap_or(&path);
            // By its name its figures are told, and two such names could look the same.
            let added = match own.to_str() {
                Some(_) => bounded::read_text(&path).and_then(|text| corpus.add(own, &text)),
                None => Err(io::Error::new(
                    io::ErrorKind::InvalidFilename,
                    "expected a name in UTF-8; rename it, or the folder that it is in",
                )),
            };
            if let Err(error) = added {
                corpus.unread.push((path, error));
            }
        }
        Some(corpus)
    }

    /// Adds what a file holds. One that holds nothing is told only where it is not what its name
    /// says.
    fn add(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let mut way = path.components();
        let first = way.next().map(|first| first.as_os_str().to_string_lossy());
        let rest = way.as_path().to_string_lossy().into_owned();
        // A file in the folder itself is a set of its own.
        let set = first.unwrap_or_default().into_owned();
        let file = if rest.is_empty() { set.clone() } else { rest };
        let (kind, found) = read(&ending(path), text);
        if found.is_empty() && ending(path) == "json" {
            serde_json::from_str::<serde::de::IgnoredAny>(text)?;
        }
        self.conversations
            .extend(found.into_iter().map(|found| Recorded {
                set: set.clone(),
                id: format!("{file}#{}", found.place),
                kind,
                format: found.format,
                document: found.document,
                wanted: found.wanted,
                questions: found.questions,
            }));
        Ok(())
    }
}

/// Endings of files that may hold conversations.
const READ: [&str; 6] = ["yaml", "yml", "md", "json", "jsonl", "traj"];

fn ending(path: &Path) -> Cow<'_, str> {
    path.extension().unwrap_or_default().to_string_lossy()
}

/// The conversations in a file's text.
fn read(ending: &str, text: &str) -> (Kind, Vec<Found>) {
    match ending {
        "yaml" | "yml" => (
            Kind::Document,
            first_of(text, &[yaml::snapshots, yaml::requests]),
        ),
        "md" => (Kind::Document, markdown::chats(text)),
        "json" | "jsonl" | "traj" => match json::log(text) {
            Some(log) => (Kind::Log, vec![log]),
            None => (
                Kind::Document,
                first_of(
                    text,
                    &[
                        json::body,
                        json::trajectories,
                        json::history,
                        json::messages,
                        json::days,
                        json::lines,
                    ],
                ),
            ),
        },
        _ => (Kind::Document, Vec::new()),
    }
}

/// What the first reader finds that finds something.
fn first_of(text: &str, readers: &[fn(&str) -> Vec<Found>]) -> Vec<Found> {
    let mut found = readers.iter().map(|read| read(text));
    found.find(|found| !found.is_empty()).unwrap_or_default()
}
