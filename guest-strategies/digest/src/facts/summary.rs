//! Earlier summaries.

use super::said;
use super::{EARLIER, Evidence, Fact, LINE, REPAIRED};
use crate::actions::Action;
use crate::section::{EntryLimits, Section, entries};
use crate::{errors, looks, text};

/// Reads an earlier summary. Its entries continue in the same sections. Returns those of its to-do list.
pub(super) fn read(
    text: &str,
    entry_limits: &mut EntryLimits,
    facts: &mut Vec<Fact>,
) -> Vec<String> {
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
                let mut actions = looks::of_line(&line);
                if actions.is_empty() {
                    actions.extend(Action::of_line(&line));
                }
                match actions.is_empty() {
                    true => facts.push(Fact::Done(line)),
                    false => facts.extend(actions.into_iter().map(Box::new).map(Fact::Action)),
                }
            }
            Section::Said => facts.extend(said::of_text(&entry, !said::announces(&entry))),
            Section::Reports => facts.extend(said::of_report(&entry, None)),
            // An earlier version took such a line for an error.
            Section::Errors if errors::says_no_error(&entry) => {}
            Section::Errors => {
                let repaired = entry.strip_suffix(REPAIRED);
                let line = text::line(repaired.unwrap_or(&entry), LINE);
                let evidence = match repaired {
                    Some(_) => Evidence::Repaired,
                    None => Evidence::Sure,
                };
                facts.push(Fact::error_in(line, evidence));
            }
            Section::Values => facts.push(Fact::Value {
                is_first: true,
                line: text::line(&entry, EARLIER),
            }),
            Section::Tasks => tasks.push(text::line(&entry, EARLIER)),
            // `Names` reads them.
            Section::Names => {}
            Section::Earlier => facts.push(Fact::Earlier(text::block(&entry, EARLIER))),
        }
    }
    tasks
}
