//! Recorded conversations, for tests and measurements.
//!
//! They are no part of the repository: they are read from a folder, which the environment
//! variable `BALER_CORPUS` names. Where there is none, [`conversations`] gives none, and a test
//! that needs them says so and passes.
//!
//! A file that cannot be read counts as none: what is there is measured, and how much that
//! was, each measurement says.

pub mod every_cut;
mod folder;
mod json;
mod markdown;
mod messages;
mod model;
pub mod sound;
mod yaml;

pub use model::Parrot;

use std::path::{Path, PathBuf};

/// One recorded conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The set that it belongs to, which is also the folder's name.
    pub set: &'static str,
    /// Its file and its place in there: enough to find it again.
    pub id: String,
    /// What the document is.
    pub kind: Kind,
    /// The wire format by the name that the host knows, such as `openai-chat`. For a log: that
    /// of the requests that it stands for.
    pub format: &'static str,
    /// A request body, or its list of messages; or the text of a log.
    pub document: String,
}

/// What was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A request body, or its list of messages.
    Document,
    /// What an agent's program wrote down of a session.
    Log,
}

/// A conversation of a file: its place in there, its format, the document.
type Found = (usize, &'static str, String);

/// What the host calls the format of OpenAI Chat Completions.
const CHAT: &str = "openai-chat";

/// What the host calls the format of Anthropic Messages.
const ANTHROPIC: &str = "anthropic";

/// What the host calls the format of OpenAI Responses.
const RESPONSES: &str = "openai-responses";

/// What the host calls the format of Gemini's `generateContent`.
const GEMINI: &str = "gemini";

/// A set: its folder, how its files end, and how one is read.
struct Set {
    name: &'static str,
    ending: &'static str,
    kind: Kind,
    read: fn(&str) -> Vec<Found>,
}

/// All sets but `vercel-ai-fixtures`: that one holds single responses, and what has no request
/// has no conversation to compact.
const SETS: [Set; 12] = [
    Set {
        name: "tau-bench",
        ending: ".json",
        kind: Kind::Document,
        read: json::trajectories,
    },
    Set {
        name: "swe-agent-fc",
        ending: ".traj",
        kind: Kind::Document,
        read: json::history,
    },
    Set {
        name: "mini-swe-agent",
        ending: ".traj.json",
        kind: Kind::Document,
        read: json::messages,
    },
    Set {
        name: "copilot-sdk-snapshots",
        ending: ".yaml",
        kind: Kind::Document,
        read: yaml::snapshots,
    },
    Set {
        name: "pydantic-ai-cassettes",
        ending: ".yaml",
        kind: Kind::Document,
        read: yaml::requests,
    },
    Set {
        name: "aider-chat-history",
        ending: ".md",
        kind: Kind::Document,
        read: markdown::chats,
    },
    Set {
        name: "memorybank",
        ending: "memory_bank_en.json",
        kind: Kind::Document,
        read: json::days,
    },
    Set {
        name: "claude-code-entire",
        ending: ".jsonl",
        kind: Kind::Log,
        read: |text| log(ANTHROPIC, text),
    },
    Set {
        name: "claude-code-agentcmd",
        ending: ".jsonl",
        kind: Kind::Log,
        read: |text| log(ANTHROPIC, text),
    },
    Set {
        name: "pi-session",
        ending: ".jsonl",
        kind: Kind::Log,
        read: |text| log(ANTHROPIC, text),
    },
    Set {
        name: "codex-rollouts",
        ending: ".jsonl",
        kind: Kind::Log,
        read: |text| log(RESPONSES, text),
    },
    Set {
        name: "gemini-cli-sessions",
        ending: ".json",
        kind: Kind::Log,
        read: |text| log(GEMINI, text),
    },
];

/// A log is one conversation, read by the host.
fn log(format: &'static str, text: &str) -> Vec<Found> {
    vec![(0, format, text.to_owned())]
}

/// The folder that `BALER_CORPUS` names; without it `../shared/data`, seen from the workspace.
#[must_use]
pub fn folder() -> PathBuf {
    std::env::var_os("BALER_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    )
}

/// All conversations of [`folder`], in the same order each time. None where it is not there.
#[must_use]
pub fn conversations() -> Option<Vec<Recorded>> {
    conversations_in(&folder())
}

/// All conversations of a folder. None where it is not there.
#[must_use]
pub fn conversations_in(folder: &Path) -> Option<Vec<Recorded>> {
    if !folder.is_dir() {
        return None;
    }
    let mut all = Vec::new();
    for set in SETS {
        let root = folder.join(set.name);
        for path in folder::files(&root, set.ending) {
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let file = path
                .strip_prefix(&root)
                .unwrap_or(&path)
                .to_string_lossy()
                .into_owned();
            all.extend(
                (set.read)(&text)
                    .into_iter()
                    .map(|(place, format, document)| Recorded {
                        set: set.name,
                        id: format!("{file}#{place}"),
                        kind: set.kind,
                        format,
                        document,
                    }),
            );
        }
    }
    Some(all)
}
