//! Agent programs that baler knows by name: where their logs and configurations are.

pub(crate) mod configuration;
pub(crate) mod json_edit;
pub(crate) mod session_log;
pub(crate) mod toml_edit;

use std::env;
use std::path::PathBuf;

use clap::ValueEnum;

/// An agent program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl Agent {
    /// Returns the name of its command.
    pub(crate) const fn command(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the folder of the program's own files; `None` if nothing says where the user's home is.
    pub(crate) fn folder(self) -> Option<PathBuf> {
        let home = env::home_dir();
        let in_home = |folder: &str| home.as_ref().map(|home| home.join(folder));
        match self {
            Self::Claude => named_by("CLAUDE_CONFIG_DIR").or_else(|| in_home(".claude")),
            Self::Codex => named_by("CODEX_HOME").or_else(|| in_home(".codex")),
            Self::Gemini => named_by("GEMINI_CLI_HOME")
                .or(home)
                .map(|home| home.join(".gemini")),
            Self::Opencode => named_by("XDG_CONFIG_HOME")
                .or_else(|| in_home(".config"))
                .map(|folder| folder.join("opencode")),
        }
    }

    /// Returns the configuration of the user, for all projects, in which the program looks for servers of tools.
    pub(crate) fn configuration(self) -> Option<PathBuf> {
        let folder = self.folder()?;
        Some(match self {
            // It is beside the folder, or in the one that is named.
            Self::Claude => {
                let named = named_by("CLAUDE_CONFIG_DIR");
                named.or_else(env::home_dir)?.join(".claude.json")
            }
            Self::Codex => folder.join("config.toml"),
            Self::Gemini => folder.join("settings.json"),
            Self::Opencode => folder.join("opencode.json"),
        })
    }
}

/// Returns the folder that a variable of the environment names.
fn named_by(variable: &str) -> Option<PathBuf> {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}
