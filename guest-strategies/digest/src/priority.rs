//! Finds the facts that come before all others.

use super::facts::{Evidence, Fact};

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

/// Returns the newest to-do list, which replaces those before it.
pub(super) fn newest_tasks<'a>(facts: &[(usize, &'a Fact)]) -> Vec<(usize, &'a str)> {
    let newest = facts.iter().rev().find_map(|(_, fact)| match fact {
        Fact::Tasks(tasks) => Some(tasks),
        _ => None,
    });
    let tasks = newest.into_iter().flatten().enumerate();
    tasks.map(|(place, task)| (place, task.as_str())).collect()
}
