//! What was changed afterwards of what the model sees: hidden, or replaced by other words (LPI-10). Entries stay in
//! the file as they were, with a password or whatever else was to go.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::entries::{Entry, Kind};
use crate::json;

/// What the model sees in place of the content of an entry.
#[derive(Clone, Copy)]
pub(super) enum Edit<'a> {
    Content(&'a RawValue),
    /// Nothing of the entry.
    Hidden,
}

impl<'a> Edit<'a> {
    /// Reads a replacement: a content, alone or in an object; `null` hides. What is not understood hides too: it
    /// is certain only that the content was to go.
    pub(super) fn of(replacement: Option<&'a RawValue>) -> Self {
        let is_content = |raw: &&RawValue| json::is_text(raw.get()) || json::is_list(raw.get());
        let inside = replacement
            .and_then(|raw| json::members(raw.get()))
            .and_then(|object| object.get("content"));
        match inside.or(replacement).filter(is_content) {
            Some(content) => Self::Content(content),
            None => Self::Hidden,
        }
    }
}

/// The edits on a path, by the entries that they change.
pub(super) struct Edits<'s, 'a> {
    edits: HashMap<&'s str, Edit<'a>>,
    /// The number of the newest.
    newest: usize,
}

impl<'s, 'a> Edits<'s, 'a> {
    /// Reads them from a path, of which the newest of an entry holds.
    pub(super) fn of(path: &[&'s Entry<'a>]) -> Self {
        let mut edits = HashMap::new();
        let mut newest = 0;
        for entry in path {
            if let Kind::Edit { target, edit } = &entry.kind {
                edits.insert(&**target, *edit);
                newest = entry.number;
            }
        }
        Self { edits, newest }
    }

    /// The edit of an entry.
    pub(super) fn get(&self, entry: &Entry<'a>) -> Option<Edit<'a>> {
        let id = entry.id.as_deref()?;
        self.edits.get(id).copied()
    }

    /// Whether something was changed behind an entry, so that what the provider counted for it counts no more.
    pub(super) fn come_after(&self, entry: &Entry<'a>) -> bool {
        entry.number < self.newest
    }
}
