//! Documents without a text beside them, and names that the service refuses (BED-9).

use std::collections::{HashMap, HashSet};

use super::set;
use crate::formats::Replacement;
use crate::formats::bedrock_converse::read::DOCUMENT;
use crate::formats::bedrock_converse::rules::{documents, has_text, is_legal_name, is_of_names};
use crate::json;
use crate::model::message::Role;
use crate::repair::answers::NO_TEXT;
use crate::repair::{Draft, Reading};

/// The name of a document that has none.
const NAMELESS: &str = "document";

/// Characters of an old name that a new one keeps, so that a number fits behind them.
const KEPT: usize = 180;

/// Puts a note beside documents that stand alone.
pub(super) fn introduce(reading: &Reading, draft: &mut Draft<'_>) {
    for (index, message) in reading.each() {
        if message.opaque || has_text(message) || documents(message).next().is_none() {
            continue;
        }
        let Some(last) = message.parts.last() else {
            continue;
        };
        let note = json::encode(&reading.note(Role::User, NO_TEXT));
        let place = last.place.end..last.place.end;
        let with = format!(",{}", reading.wire().text_part(&note));
        let what = "a note of the host was added beside a document";
        draft.change(index, Replacement { place, with }, what);
    }
}

/// Gives each document a name of its own that the service accepts.
pub(super) fn name(reading: &Reading, draft: &mut Draft<'_>) {
    let mut names = Names::of(reading);
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, message) in reading.each() {
        for (part, document) in documents(message) {
            let old = document.name.as_deref().unwrap_or_default();
            let is_its_own = is_legal_name(old) && seen.insert(old);
            if is_its_own || message.opaque {
                continue;
            }
            let new = json::encode(&names.fresh(old));
            let edit = set(reading, &message.parts[part], DOCUMENT, "name", &new);
            draft.change(index, edit, "a document got another name");
        }
    }
}

/// The names of documents.
struct Names {
    taken: HashSet<String>,
    /// How many names were made of a beginning.
    uses: HashMap<String, usize>,
}

impl Names {
    fn of(reading: &Reading) -> Self {
        let messages = reading.messages.iter();
        let names = messages
            .flat_map(documents)
            .filter_map(|(_, own)| own.name.clone());
        Self {
            taken: names.collect(),
            uses: HashMap::new(),
        }
    }

    /// A name like `old` that no document has.
    fn fresh(&mut self, old: &str) -> String {
        let mut start = String::new();
        for c in old.chars().take(KEPT) {
            let c = if is_of_names(c) { c } else { '-' };
            if !(c == ' ' && start.ends_with(' ')) {
                start.push(c);
            }
        }
        if start.is_empty() {
            start.push_str(NAMELESS);
        }
        if self.taken.insert(start.clone()) {
            return start;
        }
        let uses = self.uses.entry(start.clone()).or_insert(1);
        loop {
            *uses += 1;
            let fresh = format!("{start}-{uses}");
            if self.taken.insert(fresh.clone()) {
                return fresh;
            }
        }
    }
}
