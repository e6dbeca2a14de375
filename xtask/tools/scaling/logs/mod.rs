//! The dimensions that a session's log can grow in: kinds of lines, branches, what is taken back.

mod claude_code;
mod codex;
mod gemini_cli;
mod others;
mod pi;

use crate::case::Input;

/// A dimension of a program's logs, and what makes one.
type Dimension = (&'static str, fn(usize) -> Input);

/// A program, a dimension of its logs, and what makes one.
type Log = (&'static str, &'static str, fn(usize) -> Input);

/// All of them.
pub(crate) fn all() -> Vec<Log> {
    let of = |kind: &'static str, all: &[Dimension]| -> Vec<Log> {
        all.iter()
            .map(|(name, make)| (kind, *name, *make))
            .collect()
    };
    [
        of("log: codex", codex::DIMENSIONS),
        of("log: claude-code", claude_code::DIMENSIONS),
        of("log: pi", pi::DIMENSIONS),
        of("log: gemini-cli", gemini_cli::DIMENSIONS),
        of("log: claude-stream-json", others::CLAUDE_STREAM_JSON),
        of("log: cline", others::CLINE),
        of("log: opencode", others::OPENCODE),
        of("log: copilot-cli", others::COPILOT),
        of("log: droid", others::DROID),
    ]
    .concat()
}
