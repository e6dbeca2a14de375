//! Removes a tool output and leaves its call.
//!
//! The plan is invalid: a call without its output is refused by every provider.

use hostile_guests::{
    Change, Content, Failure, Hostile, Report, Situation, find, hostile, nothing_to_attack, rewrite,
};

struct EditRemovesOutput;

impl Hostile for EditRemovesOutput {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|_, _, part| matches!(part.content, Content::Output(_))) else {
            return nothing_to_attack();
        };
        rewrite(place.unit, vec![place.edit(Change::Remove)])
    }
}

hostile!(EditRemovesOutput);
