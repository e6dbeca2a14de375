//! Finds the facts that come before all others.

use std::borrow::Cow;

use super::facts::{Evidence, Fact, REPAIRED};
use super::repairs::Repairs;

/// Returns the last error that surely is one and was not repaired, as far as later runs show; or else the last that surely
/// is one; or else the last line that only contains a word for one.
pub(super) fn last_error<'a>(
    facts: &[(usize, &'a Fact)],
    repairs: &Repairs<'_>,
) -> Option<(usize, Cow<'a, str>)> {
    let mut repaired = None;
    let mut possible = None;
    for (place, fact) in facts.iter().rev() {
        let Fact::Error { line, evidence, of } = fact else {
            continue;
        };
        match evidence {
            Evidence::Repaired => {}
            Evidence::Word => {
                possible.get_or_insert((*place, Cow::Borrowed(line.as_str())));
            }
            Evidence::Sure if repairs.has(*place, line, of.as_deref()) => {
                repaired.get_or_insert_with(|| (*place, Cow::Owned(format!("{line}{REPAIRED}"))));
            }
            Evidence::Sure => return Some((*place, Cow::Borrowed(line))),
        }
    }
    repaired.or(possible)
}

/// Returns the last line that mentions an error, with any evidence, unless it was repaired or is the outcome of an action.
pub(super) fn newest_error<'a>(
    facts: &[(usize, &'a Fact)],
    repairs: &Repairs<'_>,
) -> Option<(usize, &'a str)> {
    let mut newest = facts.iter().rev();
    newest.find_map(|(place, fact)| match fact {
        Fact::Error { line, evidence, of }
            if *evidence != Evidence::Repaired
                && !repairs.outcomes.contains(line.as_str())
                && !repairs.has(*place, line, of.as_deref()) =>
        {
            Some((*place, line.as_str()))
        }
        _ => None,
    })
}
