//! What was done, and what tools answered.

use std::collections::BTreeSet;

use super::Collector;
use crate::actions::merged;
use crate::contents::ContentKind;
use crate::facts::{Evidence, Fact};
use crate::priority::{newest_error, newest_tasks};
use crate::section::Section;
use crate::work::Work;
use crate::write::Source;
use crate::{outdated, shares, status, text, weights};

pub(super) struct Tools {
    /// What the merged actions came to.
    outcomes: BTreeSet<String>,
    /// Places of what is known better from later outputs.
    outdated: BTreeSet<usize>,
    newest_error: Option<usize>,
    newest_values: Option<usize>,
}

impl Tools {
    /// Adds all actions first: others refer to them.
    pub(super) fn of<'a>(source: &Source<'a>, collector: &mut Collector<'a>) -> Self {
        let facts = source.facts;
        add_actions(facts, collector);
        let actions = collector.candidates.actions.values();
        let outcomes = actions.filter_map(|(_, action)| action.outcome());
        Self {
            outcomes: outcomes.map(str::to_owned).collect(),
            // Services return other records by the same names.
            outdated: match collector.work {
                Work::Coding => outdated::places(facts),
                _ => BTreeSet::new(),
            },
            newest_error: newest_error(facts).map(|(place, _)| place),
            newest_values: newest_values(facts).filter(|_| collector.work == Work::Service),
        }
    }

    /// Reads a fact about tools, or an entry of an earlier digest.
    pub(super) fn read<'a>(
        &self,
        (place, fact): &(usize, &'a Fact),
        collector: &mut Collector<'a>,
    ) {
        let place = *place;
        match fact {
            Fact::Changed(line) => {
                let worth = weights::CHANGED * collector.aged(place, weights::OLD_EDIT);
                collector.add(Section::Done, place, line.into(), worth);
            }
            Fact::Content(content) if !self.outdated.contains(&place) => {
                let worth = match content.kind {
                    ContentKind::Code => weights::DECLARED,
                    ContentKind::Purpose => weights::PURPOSE,
                    ContentKind::Reason => weights::COMMENTED,
                };
                let worth = collector.own(place, worth);
                collector.add(Section::Done, place, (&content.line).into(), worth);
            }
            Fact::Done(line) => {
                let worth = collector.own(place, weights::DONE);
                collector.add(Section::Done, place, line.into(), worth);
            }
            Fact::Error {
                line,
                evidence: Evidence::Sure,
            } => {
                let line = text::line(line, shares::SHORT_ENTRY);
                if !self.outcomes.contains(&*line) {
                    let worth = collector.own(place, weights::ERROR);
                    collector.add(Section::Errors, place, line.into(), worth);
                }
            }
            // It may be source code or pasted text, except the newest.
            Fact::Error { line, .. } if Some(place) == self.newest_error => {
                collector.add(Section::Errors, place, line.into(), weights::NEWEST_ERROR);
            }
            Fact::Value { number, line, .. } if !self.outdated.contains(&place) => {
                let is_newest = self.newest_values.is_some_and(|first| place >= first);
                let worth = match *number {
                    number if is_newest && number < weights::LINES_OF_NEWEST => {
                        weights::NEWEST_VALUES
                    }
                    0 => collector.own(place, weights::VALUES),
                    _ => 0.0,
                };
                collector.add(Section::Values, place, line.into(), worth);
            }
            Fact::Earlier(line) => {
                let worth = collector.of_line(place, weights::EARLIER, line);
                collector.add(Section::Earlier, place, line.into(), worth);
            }
            _ => {}
        }
    }

    pub(super) fn finish<'a>(self, source: &Source<'a>, collector: &mut Collector<'a>) {
        for (place, task) in newest_tasks(source.facts) {
            let is_open = task.starts_with("[ ]") || task.starts_with("[>]");
            let worth = match is_open {
                true => weights::TASK,
                false => weights::FINISHED_TASK,
            };
            collector.add(Section::Tasks, place, task.into(), worth);
        }
        if let Some(status) = &source.status {
            collector.add(
                Section::Done,
                collector.end,
                status.clone().into(),
                weights::STATUS,
            );
        }
    }
}

fn add_actions<'a>(facts: &[(usize, &'a Fact)], collector: &mut Collector<'a>) {
    let actions = facts.iter().filter_map(|(place, fact)| match fact {
        Fact::Action(action) => Some((*place, &**action)),
        _ => None,
    });
    let work = collector.work;
    for (place, action) in merged(actions) {
        let oldest = match action.edited_file() {
            Some(_) => weights::OLD_CHANGE,
            None => weights::OLD,
        };
        let worth = match work == Work::Service && status::changes_something(&action, work) {
            true => weights::ACT,
            false => action.worth(),
        };
        let worth = worth * collector.aged(place, oldest);
        collector.add(Section::Done, place, action.line().into(), worth);
        let actions = &mut collector.candidates.actions;
        actions.insert(action.label(), (place, action));
    }
}

/// Returns the place of the first values of the newest record.
fn newest_values(facts: &[(usize, &Fact)]) -> Option<usize> {
    let mut newest = facts.iter().rev();
    newest.find_map(|(place, fact)| matches!(fact, Fact::Value { number: 0, .. }).then_some(*place))
}
