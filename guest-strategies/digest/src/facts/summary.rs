//! Earlier summaries.

use super::said;
use super::{EARLIER, Evidence, Fact, HEARD, REQUEST, RULE, RULES_OF_MESSAGE};
use crate::actions::Action;
use crate::changes::EDITED;
use crate::contents::Content;
use crate::rules::Strength;
use crate::section::{EntryLimits, Section, entries};
use crate::{errors, rules, status, text};

/// Reads an earlier summary. Its entries continue in the same sections.
pub(super) fn read(text: &str, entry_limits: &mut EntryLimits, facts: &mut Vec<Fact>) {
    let mut tasks = Vec::new();
    let mut rules_left = RULES_OF_MESSAGE;
    entry_limits.begin();
    for (section, entry) in entries(text) {
        // Names are no facts, and do not count.
        if section == Section::Names || !entry_limits.admit(section) {
            continue;
        }
        match section {
            Section::Requests => {
                super::each_rule(&entry, &mut |rule| {
                    // A sentence that was cut may say something else than the whole.
                    let whole = rule
                        .filter(|rule| !matches!(rule, Fact::Rule(_, text) if text.ends_with('…')));
                    if let Some(rule) = whole.filter(|_| rules_left > 0) {
                        rules_left -= 1;
                        facts.push(rule);
                    }
                });
                facts.push(Fact::Request(text::block(&entry, REQUEST)));
            }
            Section::Kept => facts.push(Fact::Mentioned(text::line(&entry, HEARD))),
            Section::Rules => {
                // With the sentence before it, a rule may begin like a remark.
                let strength = match rules::strength(&entry) {
                    Some(Strength::Wish) => Strength::Wish,
                    _ => Strength::Rule,
                };
                facts.push(Fact::Rule(strength, text::line(&entry, RULE)));
            }
            Section::Remarks => {
                facts.push(Fact::Rule(Strength::Remark, text::line(&entry, RULE)));
            }
            Section::Told => super::read_request(&entry, facts),
            // It is made anew.
            Section::Done if status::is_status(&entry) => {}
            Section::Done => {
                let line = text::line(&entry, EARLIER);
                let content = Content::of_line(&line).map(Fact::Content);
                let action = || Action::of_line(&line).map(|action| Fact::Action(Box::new(action)));
                facts.push(content.or_else(action).unwrap_or_else(
                    || match line.starts_with(EDITED) {
                        true => Fact::Changed(line),
                        false => Fact::Done(line),
                    },
                ));
            }
            Section::Said => facts.extend(said::of_text(&entry, !said::announces(&entry))),
            Section::Reports => facts.extend(said::of_report(&entry)),
            // An earlier version took such a line for an error.
            Section::Errors if errors::says_no_error(&entry) => {}
            Section::Errors => facts.push(Fact::Error {
                line: text::line(&entry, RULE),
                evidence: Evidence::Sure,
            }),
            Section::Values => facts.push(Fact::Value {
                number: 0,
                line: text::line(&entry, EARLIER),
                file: None,
            }),
            Section::Thoughts => facts.push(Fact::Thought(text::line(&entry, EARLIER))),
            Section::Decisions => facts.push(Fact::Decision(text::line(&entry, EARLIER))),
            Section::Open => facts.push(Fact::Open(text::line(&entry, EARLIER))),
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
