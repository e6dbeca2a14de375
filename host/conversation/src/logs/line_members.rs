//! What identifies the program that wrote a line.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{self, Members};

/// The members of a line of a log, as far as it was read.
#[derive(Default)]
pub(super) struct LineMembers<'a> {
    pub(super) keys: Vec<Cow<'a, str>>,
    /// The value of `type`, if it is a text.
    pub(super) tag: Option<Cow<'a, str>>,
    /// What the member `message` holds, if it is an object.
    pub(super) message: Option<Members<'a>>,
    /// The value of `info`, raw.
    pub(super) info: Option<&'a str>,
    /// Whether a member is the list of a request body.
    pub(super) is_body: bool,
}

impl<'a> LineMembers<'a> {
    /// The members of an object that was read to its end.
    pub(super) fn of(members: &Members<'a>) -> Self {
        let mut line = Self::default();
        for (key, value) in &members.0 {
            line.take(key, value);
            line.keys.push(key.clone());
        }
        line
    }

    /// Takes the value of a member that tells more than its key: `type`, `message` or `info`.
    pub(super) fn take(&mut self, key: &str, value: &'a RawValue) {
        let raw = value.get();
        match key {
            "type" => self.tag = json::is_text(raw).then(|| json::decode(raw)),
            "message" => self.message = json::members(raw),
            "info" => self.info = Some(raw),
            _ => {}
        }
    }

    /// Whether the line has this member.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|seen| seen == key)
    }

    /// Whether the message that the line holds has this member.
    pub(super) fn has_in_message(&self, key: &str) -> bool {
        let message = self.message.as_ref();
        message.is_some_and(|message| message.get(key).is_some())
    }
}
