//! What identifies the program that wrote a line.

use std::borrow::Cow;

/// The members of a line of a log, as far as it was read.
#[derive(Default)]
pub(super) struct LineMembers<'a> {
    pub(super) keys: Vec<Cow<'a, str>>,
    /// The value of `type`, if it is a text.
    pub(super) tag: Option<Cow<'a, str>>,
    /// Whether a member is the list of a request body.
    pub(super) is_body: bool,
}

impl LineMembers<'_> {
    /// Whether the line has this member.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|seen| seen == key)
    }

    /// The `type` of the line.
    pub(super) fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }
}
