//! Session logs of agent programs: from a log to the request body that it stands for.
//!
//! Formats and rules (`LCC-2` and so on): docs/wire-formats.md, section "Session logs". What a
//! provider sent or was sent is copied byte for byte; only what lies around it is new. Where only
//! the record says that a program wrote a text in the user's role, tags around it say so too (`inserted`).

mod sniff;
mod line_members;
mod not_read;
mod torn;
mod lines;
mod records;
mod pairing;
mod body;
mod inserted;
mod anthropic;
mod turns;
mod claude_code;
mod codex;
mod pi;
mod gemini_cli;
mod claude_stream;
mod cline;
mod opencode;
mod copilot;
mod droid;
#[cfg(test)]
mod tests;

use crate::deadline::Deadline;
use crate::model::format::Format;
use crate::model::log::{LogError, LogFacts, LogKind};
use line_members::LineMembers;
pub(crate) use sniff::is_lines;

/// The programs that are known by the lines of their logs, in the order in which they are asked: a line of
/// Qwen Code has all that one of Claude Code has, a line of Claude Code may have the members of one of
/// gemini-cli, and a line of gemini-cli without a type those of one of Codex.
const PROGRAMS: &[Program] = &[
    Program::read(LogKind::Droid, droid::is_line, droid::read),
    Program::not_read("Qwen Code", not_read::is_qwen_code),
    Program::not_read(
        "`gemini --output-format stream-json`",
        not_read::is_gemini_stream,
    ),
    Program::read(LogKind::CopilotCli, copilot::is_line, copilot::read),
    Program::read(
        LogKind::ClaudeStreamJson,
        claude_stream::is_line,
        claude_stream::read,
    ),
    Program::read(LogKind::Opencode, opencode::is_line, opencode::read),
    // Its logs are lists.
    Program::read(LogKind::Cline, |_| false, cline::read),
    Program::read(LogKind::Pi, pi::is_line, pi::read),
    Program::read(LogKind::ClaudeCode, claude_code::is_line, claude_code::read),
    Program::read(LogKind::GeminiCli, gemini_cli::is_line, gemini_cli::read),
    Program::read(LogKind::Codex, codex::is_line, codex::read),
];

/// A program that is known by the lines of its logs.
struct Program {
    /// Whether something marks a line as one of its.
    is_line: IsLine,
    log: ProgramLog,
}

type IsLine = fn(&LineMembers<'_>) -> bool;
type Read = fn(&str, Option<&Deadline>) -> Result<Log, LogError>;

enum ProgramLog {
    Read(LogKind, Read),
    /// The name of a program whose logs are not supported and would pass for those of another one.
    NotRead(&'static str),
}

impl Program {
    const fn read(kind: LogKind, is_line: IsLine, read: Read) -> Self {
        let log = ProgramLog::Read(kind, read);
        Self { is_line, log }
    }

    const fn not_read(name: &'static str, is_line: IsLine) -> Self {
        let log = ProgramLog::NotRead(name);
        Self { is_line, log }
    }

    /// The kind of its logs, if they are read.
    const fn kind(&self) -> Option<LogKind> {
        match self.log {
            ProgramLog::Read(kind, _) => Some(kind),
            ProgramLog::NotRead(_) => None,
        }
    }
}

impl LogKind {
    /// Which program wrote a text, by its first lines; `None` if it is not a log of any that baler
    /// reads.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        sniff::program(text)?.kind()
    }
}

/// A log that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Log {
    /// Who wrote it.
    pub(crate) kind: LogKind,
    /// The wire format of `document`.
    pub(crate) format: Format,
    /// A request body: `{"model":…,"messages":[…]}`, or `input`, or `contents`. The model is left
    /// out where the log names none, and in a Gemini body, which has no such member.
    pub(crate) document: String,
    /// The model that answered last.
    pub(crate) model: Option<String>,
    /// What the provider counted: the tokens of a request and of its response together, and the
    /// number of leading messages of `document` that they cover.
    pub(crate) reported: Option<(u32, usize)>,
    /// The messages of `document`, in order, that are summaries which the program recorded. They are
    /// marked as such, but not sealed: they are not texts of baler's.
    pub(crate) summaries: Vec<usize>,
    /// The messages of `document`, in order, with results that the model has not answered, although its newest
    /// answer stands behind them.
    pub(crate) late: Vec<usize>,
    /// What was found in the log, and what of it is not in `document`.
    pub(crate) facts: LogFacts,
}

/// Reads a session log; `None` if `text` is no such log, which is decided by its beginning.
///
/// # Errors
/// The log holds no messages, too much of it is broken or not understood, or its program's logs are not read.
pub(crate) fn read(text: &str, deadline: Option<&Deadline>) -> Option<Result<Log, LogError>> {
    Some(match sniff::program(text)?.log {
        ProgramLog::Read(_, read) => read(text, deadline),
        ProgramLog::NotRead(program) => Err(LogError::NotRead { program }),
    })
}
