//! The programs whose session logs are read, and the counts reported about a log.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A program whose session logs are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LogKind {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// pi.
    Pi,
    /// gemini-cli.
    GeminiCli,
    /// Claude Code's `--output-format stream-json`.
    ClaudeStreamJson,
    /// Cline or Roo Code.
    Cline,
    /// OpenCode.
    Opencode,
    /// Copilot CLI.
    CopilotCli,
    /// Factory Droid.
    Droid,
}

impl LogKind {
    /// All of them.
    const ALL: &'static [Self] = &[
        Self::ClaudeCode,
        Self::ClaudeStreamJson,
        Self::Codex,
        Self::Pi,
        Self::GeminiCli,
        Self::Opencode,
        Self::CopilotCli,
        Self::Cline,
        Self::Droid,
    ];

    /// Their names, as an error lists them.
    fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
        names.join(", ")
    }

    /// The name by which messages and receipts call the log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::GeminiCli => "gemini-cli",
            Self::ClaudeStreamJson => "claude-stream-json",
            Self::Cline => "cline",
            Self::Opencode => "opencode",
            Self::CopilotCli => "copilot-cli",
            Self::Droid => "droid",
        }
    }
}

impl fmt::Display for LogKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Counts for a notice to the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct LogFacts {
    /// Lines that are not empty, each as often as pieces stand in it, if breaks between lines were lost; of a
    /// recording that is one object, its messages.
    pub lines: usize,
    /// Lines that hold nothing for the model: titles, events, settings, unknown types.
    pub skipped_lines: usize,
    /// Skipped lines of an unknown form, which may have held something for the model.
    pub unknown_lines: usize,
    /// Complete lines, or pieces of them, that are no JSON, or that name a key twice.
    pub broken_lines: usize,
    /// Whether the last line ends in its middle: the program was writing, or was stopped.
    pub unfinished_last_line: bool,
    /// Lines of sub-agents; none where the log is a sub-agent's own.
    pub sidechain_lines: usize,
    /// Messages from before the last recorded compaction, which the model sees no more.
    pub earlier_messages: usize,
    /// Lines that the last recorded compaction kept as they were, and that the log does not hold.
    pub missing_messages: usize,
    /// Messages of branches that were left: rewound, or not on the way to the newest entry.
    pub other_branches: usize,
    /// Responses that were left out because nothing of them can be sent again.
    pub aborted_responses: usize,
    /// Calls without a recorded result, which were given one that says so.
    pub completed_calls: usize,
    /// Calls that were left out: their id came twice in one response, or nothing can answer them.
    pub dropped_calls: usize,
    /// Results that were left out: no call of their id is without one.
    pub dropped_results: usize,
    /// Blocks that were left out: not objects, of a type that cannot be sent, or calls or results without an id.
    pub dropped_blocks: usize,
    /// Blocks of thinking that were left out: the model binds them to a request that no log holds.
    pub dropped_thinking: usize,
    /// Attachments that were left out: no text is known in them that the model sees.
    pub dropped_attachments: usize,
    /// Messages that waited in the program's queue when the log ended: the model has not seen them.
    pub queued_messages: usize,
    /// Messages whose content the user or an extension replaced or hid; what replaces it is in `document`.
    pub edited_messages: usize,
    /// Sessions that the lines since the last compaction name; they are read as one.
    pub sessions: usize,
    /// Summaries that the program recorded and that are in `document`.
    pub recorded_summaries: usize,
}

/// Why a session log could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The log is whole, and there is nothing in it to compact.
    #[error(
        "this {kind} log holds no messages for the model in its {lines} lines; \
         give the log of a session in which something was said"
    )]
    NoMessages {
        /// Whose log it is.
        kind: LogKind,
        /// Its lines that are not empty.
        lines: usize,
    },
    /// The log was written by a program whose logs are not supported.
    #[error(
        "this is a log of {program}, which baler cannot read; supported logs: {}; \
         give one of those or a request body",
        LogKind::names()
    )]
    NotRead {
        /// Whose log it is.
        program: &'static str,
    },
    /// The document consists of lines of JSON objects that identify no known program.
    #[error(
        "the document looks like a log of lines from an unknown program; supported logs: {}; \
         give one of those from its first line on, a request body, or a list of messages",
        LogKind::names()
    )]
    UnknownProgram,
    /// More than half of the lines are not understood.
    #[error(
        "{unknown} of the {lines} lines of this {kind} log have an unknown form, so most of the conversation \
         would be missing; give the file as {kind} wrote it; a newer version of {kind} may use another form"
    )]
    NotUnderstood {
        /// Whose log it seems to be.
        kind: LogKind,
        /// How many lines are not understood.
        unknown: usize,
        /// Its lines that are not empty.
        lines: usize,
    },
    /// The deadline of reading passed.
    #[error("the log was not read in time; allow more time, or give a shorter one")]
    OutOfTime,
    /// More than half of the lines cannot be read.
    #[error(
        "{broken} of the {lines} lines of this {kind} log are not whole JSON objects, \
         the first of them at line {line}; give the file as the program wrote it"
    )]
    Broken {
        /// Whose log it is.
        kind: LogKind,
        /// How many lines are broken.
        broken: usize,
        /// Its lines that are not empty.
        lines: usize,
        /// The first broken line, from 1.
        line: usize,
    },
    /// A recording that is one JSON object is not whole.
    #[error(
        "this {kind} log is not JSON at line {line}, column {column}: {what}; \
         give the file as the program wrote it"
    )]
    NotJson {
        /// Whose log it is.
        kind: LogKind,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What the parser says.
        what: String,
    },
}
