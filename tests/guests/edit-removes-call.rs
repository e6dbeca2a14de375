//! Removes a tool call and leaves its output.
//!
//! The plan is invalid: an output without its call is refused by every provider.

use hostile_guests::{
    Change, Content, Failure, Hostile, Report, Situation, find, hostile, nothing_to_attack, rewrite,
};

struct EditRemovesCall;

impl Hostile for EditRemovesCall {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|_, _, part| matches!(part.content, Content::Call(_))) else {
            return nothing_to_attack();
        };
        rewrite(place.unit, vec![place.edit(Change::Remove)])
    }
}

hostile!(EditRemovesCall);
