//! Recorded conversations, from a folder.
//!
//! The shape of a file decides how it is read: a request body, the log of a session, a run of an agent with
//! its messages, a list of such runs, requests recorded as YAML, or chats in Markdown. A file of another
//! shape holds no conversation.
//!
//! A JSON object may contain, next to its messages, `questions` about them, and `needs`: what must still be known at
//! their end.

mod folder;
mod json;
mod markdown;
mod needs;
mod questions;
mod yaml;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

pub use needs::Need;
pub use questions::Question;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::bounded_file;

/// One recorded conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The name of its set: the first folder on the path to its file, or the name of the top folder.
    pub set: String,
    /// The path of its file within the set, `#`, and its index in the file.
    pub id: String,
    /// What `document` holds.
    pub kind: RecordingKind,
    /// The name of the wire format, such as `openai-chat`. For a log: the format of the requests that the
    /// program sent.
    pub format: &'static str,
    /// A request body, a list of messages, or the text of a log.
    pub document: String,
    /// The calls that solve the task; empty if they were not recorded.
    pub wanted: Vec<WantedCall>,
    /// Questions about the conversation, or what is wrong with them, and where. They are not part of the
    /// document.
    pub questions: Result<Vec<Question>, String>,
    /// What must still be known at its end. It is not part of the document either.
    pub needs: Vec<Need>,
}

impl Recording {
    /// Reads a request body, with what it asks beside its messages; `None` if it is none.
    #[must_use]
    pub fn of_body(set: &str, id: &str, body: &str) -> Option<Self> {
        Some(Self {
            set: set.to_owned(),
            id: id.to_owned(),
            ..json::body(body).pop()?
        })
    }

    /// Returns the conversation with this index in its file. The corpus gives it its names.
    pub(crate) fn new(place: usize, format: &'static str, document: impl Into<String>) -> Self {
        Self {
            set: String::new(),
            id: place.to_string(),
            kind: RecordingKind::Document,
            format,
            document: document.into(),
            wanted: Vec::new(),
            questions: Ok(Vec::new()),
            needs: Vec::new(),
        }
    }

    /// The same, with what the file asks beside the messages.
    pub(crate) fn asked(
        mut self,
        questions: Result<Vec<Question>, String>,
        needs: Option<&RawValue>,
    ) -> Self {
        self.questions = questions;
        match needs::beside(needs) {
            Ok(needs) => self.needs = needs,
            Err(wrong) => self.questions = self.questions.and(Err(wrong)),
        }
        self
    }

    /// Returns the beginning of a SHA-256 of everything that is measured. It shows whether the recording was
    /// changed since figures were written.
    #[must_use]
    pub fn content_hash(&self) -> String {
        let beside = format!(
            "{:?}",
            (
                self.kind,
                self.format,
                &self.wanted,
                &self.questions,
                &self.needs,
            )
        );
        let mut sha256 = Sha256::new();
        // The length separates the two parts.
        sha256.update((beside.len() as u64).to_le_bytes());
        sha256.update(beside.as_bytes());
        sha256.update(self.document.as_bytes());
        let hash = sha256.finalize();
        let start = hash.iter().take(16);
        let hex: String = start.map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{hex}")
    }
}

/// The kind of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingKind {
    /// A request body, or its list of messages.
    Document,
    /// The session log of an agent's program.
    Log,
}

/// A call that solves a task.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedCall {
    /// The tool's name.
    pub name: String,
    /// The arguments.
    pub arguments: serde_json::Value,
}

// JSON cannot contain NaN, so equality is reflexive.
impl Eq for WantedCall {}

/// The host's name for the format of OpenAI Chat Completions.
pub const CHAT: &str = "openai-chat";

/// The host's name for the format of Anthropic Messages.
pub const ANTHROPIC: &str = "anthropic";

/// The host's name for the format of OpenAI Responses.
pub const RESPONSES: &str = "openai-responses";

/// The host's name for the format of Gemini's `generateContent`.
pub const GEMINI: &str = "gemini";

/// The host's name for the format of Bedrock's Converse.
pub const BEDROCK: &str = "bedrock-converse";

/// The conversations of a folder.
///
/// ```
/// use std::path::Path;
///
/// use baler_eval::corpus::Corpus;
///
/// assert!(Corpus::read(Path::new("no such folder")).is_none());
/// ```
#[derive(Debug, Default)]
pub struct Corpus {
    /// The conversations, ordered by the paths of their files.
    pub conversations: Vec<Recording>,
    /// Files and folders that cannot be read, and why.
    pub unreadable: Vec<(PathBuf, io::Error)>,
}

impl Corpus {
    /// Reads all files of a folder and its subfolders. Returns `None` if there is no such folder.
    #[must_use]
    pub fn read(folder: &Path) -> Option<Self> {
        if !folder.is_dir() {
            return None;
        }
        let mut corpus = Self::default();
        let named = folder.canonicalize().ok();
        let top = named
            .as_deref()
            .and_then(Path::file_name)
            .unwrap_or_default();
        let top = top.to_string_lossy();
        for path in folder::files(folder, &mut corpus.unreadable) {
            // Other files need not be text.
            if !EXTENSIONS.contains(&&*extension(&path)) {
                continue;
            }
            let own = path.strip_prefix(folder).unwrap_or(&path);
            // Figures are identified by names, and two lossily converted names could be equal.
            let added = match own.to_str() {
                Some(_) => {
                    bounded_file::read_text(&path).and_then(|text| corpus.add(&top, own, &text))
                }
                None => Err(io::Error::new(
                    io::ErrorKind::InvalidFilename,
                    "expected a name in UTF-8; rename it, or the folder that it is in",
                )),
            };
            if let Err(error) = added {
                corpus.unreadable.push((path, error));
            }
        }
        Some(corpus)
    }

    /// Adds the conversations of a file. A file without any is an error only if its JSON is malformed. `top` is the name of the
    /// set of files in the top folder.
    fn add(&mut self, top: &str, path: &Path, text: &str) -> io::Result<()> {
        let mut way = path.components();
        let first = way.next().map(|first| first.as_os_str().to_string_lossy());
        let first = first.unwrap_or_default().into_owned();
        let rest = way.as_path().to_string_lossy().into_owned();
        // Files in the top folder are a set.
        let (set, file) = match rest.is_empty() {
            true => (top.to_owned(), first),
            false => (first, rest),
        };
        let mut found = read(&extension(path), text);
        if found.is_empty() && extension(path) == "json" {
            serde_json::from_str::<serde::de::IgnoredAny>(text)?;
        }
        for recording in &mut found {
            recording.set.clone_from(&set);
            recording.id = format!("{file}#{}", recording.id);
        }
        self.conversations.append(&mut found);
        Ok(())
    }
}

/// Extensions of files that may hold conversations.
const EXTENSIONS: [&str; 6] = ["yaml", "yml", "md", "json", "jsonl", "traj"];

fn extension(path: &Path) -> Cow<'_, str> {
    path.extension().unwrap_or_default().to_string_lossy()
}

/// Reads the conversations in a file's text.
fn read(extension: &str, text: &str) -> Vec<Recording> {
    let readers: &[fn(&str) -> Vec<Recording>] = match extension {
        "yaml" | "yml" => &[yaml::snapshots, yaml::requests],
        "md" => &[markdown::chats],
        _ => &[
            json::log,
            json::body,
            json::trajectories,
            json::messages,
            json::days,
            json::lines,
        ],
    };
    first_of(text, readers)
}

/// Returns the results of the first reader that finds something.
fn first_of(text: &str, readers: &[fn(&str) -> Vec<Recording>]) -> Vec<Recording> {
    let mut found = readers.iter().map(|read| read(text));
    found.find(|found| !found.is_empty()).unwrap_or_default()
}
