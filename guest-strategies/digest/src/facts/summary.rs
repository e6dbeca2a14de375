//! Earlier summaries.

use super::said;
use super::{EARLIER, Evidence, Fact, LINE};
use crate::actions::Action;
use crate::section::{EntryLimits, Section, entries};
use crate::{errors, text};

/// Reads an earlier summary. Its entries continue in the same sections.
pub(super) fn read(text: &str, entry_limits: &mut EntryLimits, facts: &mut Vec<Fact>) {
    let mut tasks = Vec::new();
    entry_limits.begin();
    for (section, entry) in entries(text) {
        // Names are no facts, and do not count.
        if section == Section::Names || !entry_limits.admit(section) {
            continue;
        }
        match section {
            Section::Requests => facts.push(super::request(&entry, true)),
            Section::Told => facts.push(super::request(&entry, false)),
            Section::Done => {
                let line = text::line(&entry, EARLIER);
                let action = Action::of_line(&line).map(|action| Fact::Action(Box::new(action)));
                facts.push(action.unwrap_or(Fact::Done(line)));
            }
            Section::Said => facts.extend(said::of_text(&entry, !said::announces(&entry))),
            Section::Reports => facts.extend(said::of_report(&entry)),
            // An earlier version took such a line for an error.
            Section::Errors if errors::says_no_error(&entry) => {}
            Section::Errors => facts.push(Fact::Error {
                line: text::line(&entry, LINE),
                evidence: Evidence::Sure,
            }),
            Section::Values => facts.push(Fact::Value {
                is_first: true,
                line: text::line(&entry, EARLIER),
            }),
            Section::Tasks => tasks.push(text::line(&entry, EARLIER)),
            // `Names` reads them.
            Section::Names => {}
            Section::Earlier => facts.push(Fact::Earlier(text::line(&entry, EARLIER))),
        }
    }
    if !tasks.is_empty() {
        facts.push(Fact::Tasks(tasks));
    }
}
