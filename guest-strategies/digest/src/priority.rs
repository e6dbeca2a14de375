//! Sorts facts by priority, for when not all fit.

use std::collections::BTreeSet;

use super::facts::{Evidence, Fact};
use super::rules::Strength;
use super::section::Section;
use super::work::Work;

/// Rules of more bytes come after the others: they are mostly pasted text.
const LONG_RULE: usize = 400;

/// Returns the texts of the facts that `choose` selects, with their places.
pub(super) fn list<'a>(
    facts: &[(usize, &'a Fact)],
    choose: impl Fn(&'a Fact) -> Option<&'a String>,
) -> Vec<(usize, &'a str)> {
    facts
        .iter()
        .filter_map(|(place, fact)| Some((*place, choose(fact)?.as_str())))
        .collect()
}

/// Returns the last error: the last line that is surely one, or else the last that only contains a word for
/// one.
pub(super) fn last_error<'a>(facts: &[(usize, &'a Fact)]) -> Option<(usize, &'a str)> {
    let last = |wanted: Evidence| {
        facts.iter().rev().find_map(|(place, fact)| match fact {
            Fact::Error { line, evidence } if *evidence == wanted => Some((*place, line.as_str())),
            _ => None,
        })
    };
    last(Evidence::Sure).or_else(|| last(Evidence::Word))
}

/// Returns the last line that mentions an error, with any evidence.
pub(super) fn newest_error<'a>(facts: &[(usize, &'a Fact)]) -> Option<(usize, &'a str)> {
    let mut newest = facts.iter().rev();
    newest.find_map(|(place, fact)| Some((*place, fact.error()?)))
}

/// Returns rules with their sections and places, the most binding first; of equally binding ones, short before long,
/// then new before old. In service, where a short message states what is wanted, a rule is quoted with its whole message.
pub(super) fn sorted_rules<'a>(
    facts: &[(usize, &'a Fact)],
    work: Work,
) -> Vec<(Section, usize, &'a str)> {
    let mut rules: Vec<(Strength, bool, usize, &str)> = Vec::new();
    // The message that is being read, and how many of its facts follow.
    let mut message: Option<(&str, usize)> = None;
    for (place, fact) in facts {
        let left = message.take().filter(|(_, left)| *left > 0);
        message = left.map(|(text, left)| (text, left - 1));
        match fact {
            Fact::Statement { text, repeated } if work == Work::Service => {
                message = Some((text, *repeated));
            }
            Fact::Rule(strength, rule) => {
                let whole = left.map(|(text, _)| text);
                let whole = whole.filter(|_| *strength == Strength::Rule);
                let rule = whole.unwrap_or(rule);
                rules.push((*strength, rule.len() > LONG_RULE, *place, rule));
            }
            _ => {}
        }
    }
    rules.reverse();
    rules.sort_by_key(|(strength, is_long, ..)| (*strength, *is_long));
    let mut told = BTreeSet::new();
    rules.retain(|(.., rule)| work != Work::Service || told.insert(*rule));
    rules
        .into_iter()
        .map(|(strength, _, place, rule)| (strength.section(), place, rule))
        .collect()
}

/// Returns the newest to-do list, which replaces those before it.
pub(super) fn newest_tasks<'a>(facts: &[(usize, &'a Fact)]) -> Vec<(usize, &'a str)> {
    let newest = facts.iter().rev().find_map(|(_, fact)| match fact {
        Fact::Tasks(tasks) => Some(tasks),
        _ => None,
    });
    let tasks = newest.into_iter().flatten().enumerate();
    tasks.map(|(place, task)| (place, task.as_str())).collect()
}
