//! What a program compacted away from its own session. Its log still holds it.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, anyhow};
use baler_host::archive::{Archive, Retrieve};
use baler_host::conversation::{Reader, SecretKey};
use serde_json::Value;

use super::Agent;
use crate::exit::Failure;
use crate::files;

/// The newest session of a program in a folder, by the program's own log.
#[derive(Debug, Clone)]
pub(crate) struct SessionLog {
    agent: Agent,
    /// The folder that the program works in.
    folder: PathBuf,
}

/// What a program removed from a session.
#[derive(Debug)]
pub(crate) struct Removed {
    pub(crate) tool: Retrieve,
    pub(crate) references: Vec<String>,
}

/// The most bytes of the first line of a log, which says whose it is. Codex puts its instructions there.
const FIRST_LINE: u64 = 1 << 20;

/// Letters of a name of a folder of Claude Code's, of which longer ones are cut.
const CLAUDE_NAME: usize = 200;

impl SessionLog {
    /// # Errors
    /// The program writes no logs that baler reads.
    pub(crate) fn of(agent: Agent, folder: PathBuf) -> Result<Self, Failure> {
        if agent == Agent::Opencode {
            return Err(Failure::wrong_use(anyhow!(
                "OpenCode keeps its sessions in a database, which baler does not read; expected claude, codex or gemini"
            )));
        }
        Ok(Self { agent, folder })
    }

    /// Reads the log as it is now, and makes what the program removed available to the tool. Before the first compaction
    /// that is nothing.
    pub(crate) async fn removed(&self) -> anyhow::Result<Removed> {
        let archive = Archive::in_memory();
        let mut tool = Retrieve::new(archive.clone());
        let mut references = Vec::new();
        let text = match self.newest() {
            Some(file) => read(&file).context("cannot read the program's session log")?,
            None => String::new(),
        };
        let reader = Reader::new(SecretKey::random()?);
        for part in parts_before_compactions(self.agent, &text) {
            // A part may hold nothing for the model, such as that before the first message.
            let Ok(conversation) = reader.read(part) else {
                continue;
            };
            let units = 0..conversation.units().len();
            let stored = archive.store(&conversation, units).await?;
            references.extend(stored.units.into_iter().map(|(_, reference)| reference));
        }
        tool.note_all(references.iter().map(String::as_str));
        Ok(Removed { tool, references })
    }

    /// Returns the newest log of a session in the folder; `None` if absent.
    fn newest(&self) -> Option<PathBuf> {
        let own = self.agent.folder()?;
        let mut logs = Vec::new();
        match self.agent {
            Agent::Claude => {
                let name = self.claude_name();
                // Long names end in a hash of Claude Code's own.
                let long = name.get(..CLAUDE_NAME).map(|begin| format!("{begin}-"));
                let is_ours = |other: &str| match &long {
                    Some(begin) => other.starts_with(begin.as_str()),
                    None => other == name,
                };
                let projects = fs::read_dir(own.join("projects")).ok()?.flatten();
                for project in projects {
                    if project.file_name().to_str().is_some_and(is_ours) {
                        find(&project.path(), 0, &mut logs);
                    }
                }
            }
            // In folders of a year, a month and a day.
            Agent::Codex => find(&own.join("sessions"), 3, &mut logs),
            Agent::Gemini => {
                let projects = fs::read_dir(own.join("tmp")).ok()?.flatten();
                for project in projects.map(|project| project.path()) {
                    let root = fs::read_to_string(project.join(".project_root"));
                    if root.is_ok_and(|root| Path::new(root.trim()) == self.folder) {
                        find(&project.join("chats"), 0, &mut logs);
                    }
                }
            }
            Agent::Opencode => {}
        }
        logs.sort();
        let mut newest = logs.into_iter().rev().map(|(_, file)| file);
        newest.find(|file| self.is_ours(file))
    }

    /// Returns the name of the folder in which Claude Code keeps the logs of the working folder.
    fn claude_name(&self) -> String {
        // JavaScript's letters are units of UTF-16.
        let spelled = |letter: char| match letter.is_ascii_alphanumeric() {
            true => letter.to_string(),
            false => "-".repeat(letter.len_utf16()),
        };
        self.folder.to_string_lossy().chars().map(spelled).collect()
    }

    /// Whether a log is one of a session in the folder, and not of a sub-agent in it.
    fn is_ours(&self, file: &Path) -> bool {
        let first = || -> Option<Value> {
            let mut line = String::new();
            let file = files::regular(file).ok()?;
            BufReader::new(file.take(FIRST_LINE))
                .read_line(&mut line)
                .ok()?;
            serde_json::from_str(&line).ok()
        };
        match self.agent {
            Agent::Codex => first().is_some_and(|first| {
                let session = &first["payload"];
                session["cwd"].as_str().map(Path::new) == Some(self.folder.as_path())
                    && session["thread_source"] != "subagent"
            }),
            Agent::Gemini => first().is_some_and(|first| first["kind"] != "subagent"),
            Agent::Claude | Agent::Opencode => true,
        }
    }
}

/// Finds the logs of a folder and of those in it, `depth` deep, with the time of their last change.
fn find(folder: &Path, depth: usize, found: &mut Vec<(SystemTime, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if depth > 0 {
            find(&path, depth - 1, found);
        } else if path.extension().is_some_and(|ending| ending == "jsonl")
            && let Ok(changed) = entry.metadata().and_then(|metadata| metadata.modified())
        {
            found.push((changed, path));
        }
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    let file: File = files::regular(file)?;
    let bytes = files::bounded(file, files::LARGEST_CONVERSATION)?;
    let bytes = bytes.ok_or_else(|| {
        files::too_large(files::LARGEST_CONVERSATION, "more than any session holds")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Divides a log at the lines by which it records compactions, and returns the parts before them: each reads as a log of
/// its own. The rest is what the model still sees.
fn parts_before_compactions(agent: Agent, text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if records_compaction(agent, line) {
            parts.extend(text.get(start..at));
            start = at;
        }
        at += line.len();
    }
    parts
}

/// Whether a line says that the program goes on with another history than that of the lines before it.
fn records_compaction(agent: Agent, line: &str) -> bool {
    // Few lines hold the word, and only those are worth parsing.
    let word = match agent {
        Agent::Claude => "compact_boundary",
        Agent::Codex => "compacted",
        Agent::Gemini => "$set",
        Agent::Opencode => return false,
    };
    if !line.contains(word) {
        return false;
    }
    let line: Value = serde_json::from_str(line).unwrap_or_default();
    match agent {
        Agent::Claude => line["type"] == "system" && line["subtype"] == word,
        Agent::Codex => line["type"] == word,
        _ => line[word]["messages"].is_array(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_divided_at_the_compactions_that_it_records() {
        let said = r#"{"type":"user","message":{"role":"user","content":"compact_boundary"}}"#;
        let boundary = r#"{"type":"system","subtype":"compact_boundary"}"#;
        let log = [said, boundary, said, said, boundary, said].join("\n");
        let parts = parts_before_compactions(Agent::Claude, &log);
        let later = [boundary, said, said].join("\n");
        assert_eq!(parts, [format!("{said}\n"), format!("{later}\n")]);
        assert!(parts_before_compactions(Agent::Codex, &log).is_empty());

        let compacted = r#"{"type":"compacted","payload":{"message":"x"}}"#;
        let parts = parts_before_compactions(Agent::Codex, compacted);
        assert_eq!(parts, [""]);
        let change = r#"{"$set":{"lastUpdated":"x"}}"#;
        assert!(parts_before_compactions(Agent::Gemini, change).is_empty());
    }

    #[test]
    fn claude_code_names_folders_by_letters_and_digits() {
        let log = SessionLog {
            agent: Agent::Claude,
            folder: "/home/a.b/my_wörk 😀".into(),
        };
        assert_eq!(log.claude_name(), "-home-a-b-my-w-rk---");
    }
}
