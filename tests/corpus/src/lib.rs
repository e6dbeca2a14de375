//! Recorded conversations, for tests and measurements.
//!
//! They are no part of the repository: they are read from a folder, which the environment
//! variable `BALER_CORPUS` names. Where there is none, [`conversations`] gives none, and a test
//! that needs them says so and passes.
//!
//! A file that cannot be read counts as none: what is there is measured, and how much that
//! was, each measurement says.

mod folder;
mod json;
mod yaml;

use std::path::{Path, PathBuf};

/// One recorded conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The set that it belongs to, which is also the folder's name.
    pub set: &'static str,
    /// Its file and its place in there: enough to find it again.
    pub id: String,
    /// The wire format by the name that the host knows: `openai-chat` or `anthropic`.
    pub format: &'static str,
    /// A request body, or its list of messages.
    pub document: String,
}

/// A conversation of a file: its place in there, its format, the document.
type Found = (usize, &'static str, String);

/// What the host calls the format of OpenAI Chat Completions.
const CHAT: &str = "openai-chat";

/// What the host calls the format of Anthropic Messages.
const ANTHROPIC: &str = "anthropic";

/// A set: its folder, how its files end, and how one is read.
struct Set {
    name: &'static str,
    ending: &'static str,
    read: fn(&str) -> Vec<Found>,
}

const SETS: [Set; 5] = [
    Set {
        name: "tau-bench",
        ending: ".json",
        read: json::trajectories,
    },
    Set {
        name: "swe-agent-fc",
        ending: ".traj",
        read: json::history,
    },
    Set {
        name: "mini-swe-agent",
        ending: ".traj.json",
        read: json::messages,
    },
    Set {
        name: "copilot-sdk-snapshots",
        ending: ".yaml",
        read: yaml::snapshots,
    },
    Set {
        name: "pydantic-ai-cassettes",
        ending: ".yaml",
        read: yaml::requests,
    },
];

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
                        format,
                        document,
                    }),
            );
        }
    }
    Some(all)
}
