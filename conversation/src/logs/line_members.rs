//! What identifies the program that wrote a line.

use std::borrow::Cow;

use crate::json::Members;

/// The members of a line of a log, as far as it was read.
#[derive(Default)]
pub(super) struct LineMembers<'a> {
    pub(super) keys: Vec<Cow<'a, str>>,
    /// The value of `type`, if it is a text.
    pub(super) tag: Option<Cow<'a, str>>,
    /// What the member `message` holds, if it is an object.
    pub(super) message: Option<Members<'a>>,
    /// Whether a member is the list of a request body.
    pub(super) is_body: bool,
}

impl LineMembers<'_> {
    /// Whether the line has this member.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|seen| seen == key)
    }

    /// Whether the message that the line holds has this member.
    pub(super) fn has_in_message(&self, key: &str) -> bool {
        let message = self.message.as_ref();
        message.is_some_and(|message| message.get(key).is_some())
    }

    /// The `type` of the line.
    pub(super) fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }
}
