//! Whose log a text is, found out from its beginning.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json;
use crate::model::log::LogKind;

/// Lines that are looked at.
const LINES: usize = 16;
/// Bytes of a line that are looked at. A picture in the first line comes behind the signs.
const BYTES: usize = 1 << 20;
/// Members of an object that are looked at.
const MEMBERS: usize = 48;

/// Whose log `text` is; none where it is none.
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
    /// A whole object without signs.
    Whole,
    /// No object, or not all of it was looked at.
    Broken,
}

/// Looks at the object that `text` begins with. `bare`: whether an item without a wrapper counts
/// as a sign, which it does in the first line only: pretty-printed bodies have such lines too.
fn look(text: &str, bare: bool) -> Found {
    let mut end = text.len().min(BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut seen = Seen::default();
    let mut deserializer = serde_json::Deserializer::from_str(&text[..end]);
    let whole = Look(&mut seen).deserialize(&mut deserializer).is_ok();
    if seen.is_body {
        Found::NoLog
    } else if let Some(kind) = seen.kind() {
        Found::Log(kind)
    } else if whole && bare && seen.is_bare_item() {
        Found::Log(LogKind::Codex)
    } else if whole {
        Found::Whole
    } else {
        Found::Broken
    }
}

#[derive(Default)]
struct Seen<'a> {
    keys: Vec<Cow<'a, str>>,
    tag: Option<Cow<'a, str>>,
    is_body: bool,
}

impl Seen<'_> {
    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|seen| seen == key)
    }

    /// Whose line it is, as far as it was looked at.
    fn kind(&self) -> Option<LogKind> {
        let has = |key| self.has(key);
        let Some(tag) = self.tag.as_deref() else {
            return if has("$set")
                || has("$rewindTo")
                || has("projectHash")
                || (has("sessionId") && (has("startTime") || has("lastUpdated")))
            {
                Some(LogKind::GeminiCli)
            } else if has("record_type")
                || (has("id") && has("timestamp") && (has("instructions") || has("git")))
            {
                Some(LogKind::Codex)
            } else {
                None
            };
        };
        match tag {
            "session" if has("id") || has("version") => Some(LogKind::Pi),
            "message" if has("message") && !has("sessionId") => Some(LogKind::Pi),
            "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted"
                if has("payload") =>
            {
                Some(LogKind::Codex)
            }
            "user" | "assistant" | "system" | "attachment" | "progress"
                if has("sessionId") && (has("parentUuid") || has("uuid")) =>
            {
                Some(LogKind::ClaudeCode)
            }
            "summary" if has("leafUuid") => Some(LogKind::ClaudeCode),
            "file-history-snapshot" if has("messageId") => Some(LogKind::ClaudeCode),
            // What a session that goes on may begin with, many times over.
            "custom-title" | "ai-title" | "agent-name" | "last-prompt" | "permission-mode"
                if has("sessionId") =>
            {
                Some(LogKind::ClaudeCode)
            }
            "queue-operation" if has("operation") => Some(LogKind::ClaudeCode),
            "user" | "gemini" | "info" | "warning" | "error"
                if has("id") && has("timestamp") && has("content") =>
            {
                Some(LogKind::GeminiCli)
            }
            _ => None,
        }
    }

    /// Whether it is an item of the Responses API. A response of Anthropic's API looks like one,
    /// but for what it counts.
    fn is_bare_item(&self) -> bool {
        match self.tag.as_deref() {
            Some("message") => {
                self.has("role")
                    && self.has("content")
                    && !["usage", "stop_reason", "model"]
                        .iter()
                        .any(|key| self.has(key))
            }
            Some("reasoning") => self.has("summary"),
            Some("function_call") => self.has("call_id") && self.has("arguments"),
            Some("function_call_output") => self.has("call_id") && self.has("output"),
            _ => false,
        }
    }
}

/// Reads an object until it is clear what it is.
struct Look<'s, 'a>(&'s mut Seen<'a>);

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
            if seen.is_body || seen.kind().is_some() || seen.keys.len() > MEMBERS {
                return Err(A::Error::custom("it is clear what this is"));
            }
            if !is_tag {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
