//! Strategies that run in the host itself: trusted code for when no guest may or can decide.

mod digest;
mod room;
mod summarize;
mod truncate;

pub(crate) use digest::digest;
pub(crate) use summarize::summarize;
pub(crate) use truncate::truncate;

use crate::plan::Plan;

/// What is kept, with a summary in the place of the first unit that is not.
fn with_summary(kept: &[bool], text: String) -> Plan {
    let mut plan = Plan::default();
    let mut text = Some(text);
    for (unit, is_kept) in kept.iter().enumerate() {
        if *is_kept {
            plan.keep(unit);
        } else if let Some(text) = text.take() {
            plan.insert_summary(text);
        }
    }
    plan
}
