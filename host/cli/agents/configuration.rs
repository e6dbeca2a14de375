//! The server of baler's tool in the configuration of a program: put there, and removed again.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};

use super::{Agent, json_edit, toml_edit};
use crate::exit::Failure;
use crate::figures::cleaned;
use crate::files::{self, Seen};
use crate::whole_file::WholeFile;

/// The name of the server.
const KEY: &str = "baler";

/// The most bytes of a configuration. That of Claude Code also holds what it remembers of each project.
const MOST: u64 = 64 << 20;

/// What stands in the place of a part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl Edit {
    pub(super) fn at_end_of(before: &str, text: String) -> Self {
        let range = before.len()..before.len();
        Self { range, text }
    }

    pub(super) fn apply(&self, before: &str) -> String {
        let part = |range: Range<usize>| before.get(range).unwrap_or_default();
        let (start, end) = (self.range.start, self.range.end);
        [part(0..start), &self.text, part(end..before.len())].concat()
    }
}

/// A change of a configuration that was not made yet.
#[derive(Debug)]
pub(crate) struct Change {
    file: PathBuf,
    before: String,
    edit: Edit,
    /// The file as it was when it was read.
    seen: Option<Seen>,
}

impl Change {
    /// Prepares to put the server that `command` runs into the configuration of a program; without a command, to remove it.
    ///
    /// # Errors
    /// The configuration cannot be read, or cannot be changed without touching what somebody else wrote.
    pub(crate) fn of(agent: Agent, command: Option<&[String]>) -> Result<Self, Failure> {
        let Some(file) = agent.configuration() else {
            return Err(Failure::wrong_use(anyhow!(
                "$HOME does not say where the configuration of `{}` is",
                agent.command()
            )));
        };
        let (before, seen) = read(&file)?;
        let list = list_of(agent);
        if let Some(other) = other_server(agent, &before) {
            return Err(Failure::wrong_use(anyhow!(
                "`{}` is not changed: it calls another server `{KEY}`, which runs `{other}`; give that one another name first",
                file.display()
            )));
        }
        let entry = command.map(|command| entry_of(agent, command));
        let edit = match (agent, &entry) {
            (Agent::Codex, Some(entry)) => toml_edit::set(&before, list, KEY, entry),
            (Agent::Codex, None) => toml_edit::remove(&before, list, KEY),
            (_, Some(entry)) => json_edit::set(&before, list, KEY, entry),
            (_, None) => json_edit::remove(&before, list, KEY),
        };
        let Some(edit) = edit else {
            let what = format!(
                "`{}` is not changed: it is written in a way that baler cannot change safely (such as with comments in JSON)",
                file.display()
            );
            return Err(match entry {
                Some(entry) => Failure::wrong_use(anyhow!("{what}; add this to it yourself"))
                    .with_more(format!("\n\n{}", by_hand(agent, &entry))),
                None => {
                    Failure::wrong_use(anyhow!("{what}; remove `{KEY}` from its `{list}` yourself"))
                }
            });
        };
        Ok(Self {
            file,
            before,
            edit,
            seen,
        })
    }

    /// Returns what changes, for people; `None` if nothing does.
    pub(crate) fn shown(&self) -> Option<String> {
        let old = self.before.get(self.edit.range.clone())?;
        if old == self.edit.text {
            return None;
        }
        let lines = |sign: char, text: &str| -> String {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.map(|line| format!("{sign} {line}\n")).collect()
        };
        let (removed, added) = (lines('-', old), lines('+', &self.edit.text));
        Some(format!("{}\n{removed}{added}", self.file.display()))
    }

    /// Returns the file.
    pub(crate) fn file(&self) -> String {
        self.file.display().to_string()
    }

    /// Writes the file, whole or not at all.
    pub(crate) fn make(self) -> anyhow::Result<()> {
        if self.seen.is_none() {
            let folder = files::folder_of(&self.file);
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
        }
        let file = WholeFile::create(&self.file)?.replacing(self.seen);
        file.finish(&self.edit.apply(&self.before))
    }
}

/// Returns the name of the list of servers.
const fn list_of(agent: Agent) -> &'static str {
    match agent {
        Agent::Claude | Agent::Gemini => "mcpServers",
        Agent::Codex => "mcp_servers",
        Agent::Opencode => "mcp",
    }
}

/// Returns what the server called `baler` runs, if that is not baler.
fn other_server(agent: Agent, text: &str) -> Option<String> {
    let all: Value = match agent {
        Agent::Codex => toml::from_str(text).ok()?,
        _ => serde_json::from_str(text).ok()?,
    };
    let server = all.get(list_of(agent))?.get(KEY)?;
    let command = match &server["command"] {
        Value::Array(words) => words.first()?.as_str(),
        word => word.as_str(),
    };
    let command = command.unwrap_or("something else");
    let stem = Path::new(command).file_stem()?.to_str()?;
    (stem != KEY).then(|| cleaned(command))
}

/// Returns what the list says of a server that this command runs.
fn entry_of(agent: Agent, command: &[String]) -> Value {
    match (agent, command) {
        (Agent::Opencode, command) => {
            json!({"type": "local", "command": command, "enabled": true})
        }
        (_, [program, arguments @ ..]) => json!({"command": program, "args": arguments}),
        (_, []) => Value::Null,
    }
}

fn by_hand(agent: Agent, entry: &Value) -> String {
    let list = list_of(agent);
    match agent {
        Agent::Codex => toml_edit::lines_of(list, KEY, entry),
        _ => format!("{:#}\n", json!({list: {KEY: entry}})),
    }
}

/// Reads a configuration. One that does not exist is empty.
fn read(file: &Path) -> Result<(String, Option<Seen>), Failure> {
    if !file.exists() {
        return Ok((String::new(), None));
    }
    let read = || -> anyhow::Result<(String, Option<Seen>)> {
        let opened = files::regular(file)?;
        let seen = Seen::of(&opened.metadata()?);
        let bytes = files::bounded(opened, MOST)?;
        let bytes = bytes
            .ok_or_else(|| files::too_large(MOST, "the most that a configuration may have"))?;
        Ok((String::from_utf8(bytes)?, seen))
    };
    read()
        .with_context(|| format!("cannot read `{}`", file.display()))
        .map_err(Failure::wrong_use)
}
