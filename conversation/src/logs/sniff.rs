//! Detects which program wrote a log, by the beginning of the log. Each program's folder knows its lines.

use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::line_members::LineMembers;
use super::{claude_code, codex, gemini_cli, pi};
use crate::json;
use crate::model::log::LogKind;

/// The most lines that are read.
const LINES: usize = 16;
/// The most bytes of a line that are read. Pictures come after the members that identify a line.
const BYTES: usize = 1 << 20;
/// The most members of an object that are read.
const MEMBERS: usize = 48;

/// The program whose log `text` is; `None` if it is not a log.
pub(super) fn kind(text: &str) -> Option<LogKind> {
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if text.starts_with('[') {
        return None;
    }
    let mut lines = text.split('\n').filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    match look(first, true) {
        Found::Log(kind) => return Some(kind),
        Found::NoLog => return None,
        Found::Whole => {}
        // An object that is spread over lines, or a line that lost its beginning.
        Found::Broken => match look(text, false) {
            Found::Log(LogKind::GeminiCli) => return Some(LogKind::GeminiCli),
            Found::NoLog | Found::Whole => return None,
            Found::Log(_) | Found::Broken => {}
        },
    }
    for line in lines.take(LINES - 1) {
        match look(line, false) {
            Found::Log(kind) => return Some(kind),
            Found::NoLog => return None,
            Found::Whole | Found::Broken => {}
        }
    }
    None
}

enum Found {
    Log(LogKind),
    /// A request body.
    NoLog,
    /// A whole object that no program is known by.
    Whole,
    /// No object, or one that was not read to its end.
    Broken,
}

/// Reads the object at the start of `text`. `bare` says whether an item without a wrapper identifies a log.
/// It does so in the first line only, because pretty-printed bodies have such lines too.
fn look(text: &str, bare: bool) -> Found {
    let mut end = text.len().min(BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut seen = LineMembers::default();
    let mut deserializer = serde_json::Deserializer::from_str(&text[..end]);
    let whole = Look(&mut seen).deserialize(&mut deserializer).is_ok();
    if seen.is_body {
        Found::NoLog
    } else if let Some(kind) = program(&seen) {
        Found::Log(kind)
    } else if whole && bare && codex::is_bare_item(&seen) {
        Found::Log(LogKind::Codex)
    } else if whole {
        Found::Whole
    } else {
        Found::Broken
    }
}

/// The program that wrote a line, as far as it was read. A line of Claude Code may have the members of one of
/// gemini-cli, and a line of gemini-cli without a type those of one of Codex.
fn program(line: &LineMembers<'_>) -> Option<LogKind> {
    if pi::is_line(line) {
        Some(LogKind::Pi)
    } else if claude_code::is_line(line) {
        Some(LogKind::ClaudeCode)
    } else if gemini_cli::is_line(line) {
        Some(LogKind::GeminiCli)
    } else if codex::is_line(line) {
        Some(LogKind::Codex)
    } else {
        None
    }
}

/// Reads an object until its program is known.
struct Look<'s, 'a>(&'s mut LineMembers<'a>);

impl<'a> DeserializeSeed<'a> for Look<'_, 'a> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Look<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let seen = self.0;
        while let Some(key) = map.next_key::<&RawValue>()? {
            let key = json::decode(key.get());
            let is_list = matches!(&*key, "messages" | "input" | "contents");
            if is_list && seen.tag.is_none() && !seen.has("lastUpdated") {
                seen.is_body = true;
            }
            let is_tag = key == "type";
            seen.keys.push(key);
            if is_tag {
                let value: &RawValue = map.next_value()?;
                seen.tag = json::is_text(value.get()).then(|| json::decode(value.get()));
            }
            if seen.is_body || program(seen).is_some() || seen.keys.len() > MEMBERS {
                return Err(A::Error::custom("it is clear what this is"));
            }
            if !is_tag {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
