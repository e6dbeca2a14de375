//! Sorts facts by priority, for when not all fit.

use super::facts::{Evidence, Fact};
use super::rules::Strength;
use super::section::Section;

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

/// Returns rules with their sections and places, the most binding first; of equally binding ones, short before long, then new before old.
pub(super) fn sorted_rules<'a>(facts: &[(usize, &'a Fact)]) -> Vec<(Section, usize, &'a str)> {
    let mut rules: Vec<(Strength, bool, usize, &str)> = facts
        .iter()
        .rev()
        .filter_map(|(place, fact)| match fact {
            Fact::Rule(strength, rule) => {
                Some((*strength, rule.len() > LONG_RULE, *place, rule.as_str()))
            }
            _ => None,
        })
        .collect();
    rules.sort_by_key(|(strength, is_long, ..)| (*strength, *is_long));
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
