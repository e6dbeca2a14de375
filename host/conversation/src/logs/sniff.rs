//! Detects which program wrote a log, by the beginning of the log. `PROGRAMS` lists the programs; what marks a
//! line as one of theirs stands with each.

use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::line_members::LineMembers;
use super::{PROGRAMS, Program, claude_stream, cline, codex, opencode};
use crate::json::{self, Members};
use crate::model::log::LogKind;

/// The most lines that are read.
const LINES: usize = 16;
/// The most bytes of a line that are read. Pictures come after the members that identify a line.
const BYTES: usize = 1 << 20;
/// The most members of an object that are read.
const MEMBERS: usize = 48;

/// The program whose log `text` is; `None` if it is no log, or one of a program that is not known.
pub(super) fn program(text: &str) -> Option<&'static Program> {
    let text = text.trim_start_matches(json::BEFORE);
    if json::is_list(text) {
        return of_list(text);
    }
    let mut lines = lines(text);
    let first = lines.next()?;
    // Other programs write such lines too, beside lines that tell whose they are.
    let mut bare = None;
    match look(first) {
        Found::Log(program) => return Some(program),
        Found::NoLog => return None,
        Found::BareItem => bare = of_kind(LogKind::Codex),
        Found::Whole => {}
        // An object that is spread over lines, or a line that lost its beginning.
        Found::Broken => match look(text) {
            Found::Log(program)
                if matches!(program.kind(), Some(LogKind::GeminiCli | LogKind::Opencode)) =>
            {
                return Some(program);
            }
            Found::NoLog | Found::BareItem | Found::Whole => return None,
            Found::Log(_) | Found::Broken => {}
        },
    }
    for line in lines.take(LINES - 1) {
        match look(line) {
            Found::Log(program) => return Some(program),
            Found::NoLog => return bare,
            Found::BareItem | Found::Whole | Found::Broken => {}
        }
    }
    bare
}

/// Whether a text looks like a log, whoever wrote it: its first two lines are objects, and no bodies of requests.
pub(crate) fn is_lines(text: &str) -> bool {
    let is_object = |line: &str| {
        serde_json::from_str::<Members<'_>>(line).is_ok() && !matches!(look(line), Found::NoLog)
    };
    let mut lines = lines(text.trim_start_matches(json::BEFORE));
    (0..2).all(|_| lines.next().is_some_and(is_object))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|line| !line.trim().is_empty())
}

fn of_kind(kind: LogKind) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.kind() == Some(kind))
}

/// The program whose log a list is, by its first elements; `None` where they are messages of a request.
fn of_list(list: &str) -> Option<&'static Program> {
    let mut elements = json::objects(list, 0).take(LINES).map_while(Result::ok);
    let kind = elements.find_map(|element| {
        let members = element.members;
        if cline::is_message(&members) {
            return Some(LogKind::Cline);
        }
        let is_stream = claude_stream::is_line(&LineMembers::of(&members));
        is_stream.then_some(LogKind::ClaudeStreamJson)
    });
    kind.and_then(of_kind)
}

enum Found {
    Log(&'static Program),
    /// A request body.
    NoLog,
    /// An item of the Responses API without a wrapper. It identifies a log in the first line only, because
    /// pretty-printed bodies have such lines too.
    BareItem,
    /// A whole object that no program is known by.
    Whole,
    /// No object, or one that was not read to its end.
    Broken,
}

/// Reads the object at the start of `text`.
fn look(text: &str) -> Found {
    let end = text.floor_char_boundary(BYTES);
    let mut seen = LineMembers::default();
    let mut deserializer = serde_json::Deserializer::from_str(&text[..end]);
    let whole = Look(&mut seen).deserialize(&mut deserializer).is_ok();
    if seen.is_body {
        Found::NoLog
    } else if let Some(program) = program_of(&seen) {
        Found::Log(program)
    } else if whole && codex::is_bare_item(&seen) {
        Found::BareItem
    } else if whole {
        Found::Whole
    } else {
        Found::Broken
    }
}

/// The program that wrote a line, as far as it was read.
fn program_of(line: &LineMembers<'_>) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| (program.is_line)(line))
}

/// Reads what identifies an object.
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
            if is_list
                && seen.tag.is_none()
                && !seen.has("lastUpdated")
                && !opencode::is_session(seen)
            {
                // A recording that is one object has such a list behind what marks it.
                seen.is_body = program_of(seen).is_none();
            }
            let tells_more = matches!(&*key, "type" | "message" | "info");
            if tells_more {
                seen.take(&key, map.next_value()?);
            }
            seen.keys.push(key);
            if seen.is_body || seen.keys.len() > MEMBERS {
                return Err(A::Error::custom("it is clear what this is"));
            }
            if !tells_more {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
