//! Which errors were repaired, as far as what ran later shows.

use std::collections::{BTreeMap, BTreeSet};

use super::checks;
use super::facts::Fact;

/// Most checks that went well which are looked at for each error, the newest.
const CHECKS: usize = 20;

/// Most paths of an error that are looked for in them.
const PATHS: usize = 4;

/// Fewest bytes of a path by which a check is about an error.
const PATH: usize = 5;

/// What ran, by which an error is open or not.
#[derive(Debug, Default)]
pub(super) struct Repairs<'a> {
    /// The outcomes of all actions.
    pub(super) outcomes: BTreeSet<&'a str>,
    /// The last place at which each attempt went well.
    last: BTreeMap<String, usize>,
    /// Commands that checked something and went well, with their places, the newest first.
    checks: Vec<(usize, &'a str)>,
}

impl<'a> Repairs<'a> {
    pub(super) fn of(facts: &[(usize, &'a Fact)]) -> Self {
        let mut repairs = Self::default();
        for (place, fact) in facts.iter().rev() {
            let Fact::Action(action) = fact else {
                continue;
            };
            repairs.outcomes.extend(action.outcome());
            if !action.went_well() {
                continue;
            }
            repairs.last.entry(action.attempt()).or_insert(*place);
            if let Some(command) = action.command()
                && repairs.checks.len() < CHECKS
                && checks::is_check(command)
            {
                repairs.checks.push((*place, command));
            }
        }
        repairs
    }

    /// Whether an error at this place, which the attempt `of` printed, counts as repaired: the same went well later, or a
    /// check like it of a path in the line did.
    pub(super) fn has(&self, place: usize, line: &str, of: Option<&str>) -> bool {
        let Some(of) = of else {
            return false;
        };
        // The errors of a run follow it.
        if self.last.get(of).is_some_and(|last| *last > place) {
            return true;
        }
        let words = line.split(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | '"' | '\''));
        let paths = words.filter(|word| word.len() >= PATH && word.contains(['/', '.']));
        let mut paths = paths.take(PATHS);
        paths.any(|path| {
            let mut later = self.checks.iter().take_while(|(at, _)| *at > place);
            later.any(|(_, command)| command.contains(path) && checks::are_alike(command, of))
        })
    }
}
