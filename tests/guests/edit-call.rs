//! Rewrites what the model called a tool with.
//!
//! The plan is invalid: a call is no text.

use hostile_guests::{
    Change, Content, Failure, Hostile, Report, Situation, find, hostile, nothing_to_attack, rewrite,
};

struct EditCall;

impl Hostile for EditCall {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|_, _, part| matches!(part.content, Content::Call(_))) else {
            return nothing_to_attack();
        };
        rewrite(place.unit, vec![place.edit(Change::Text("-".to_owned()))])
    }
}

hostile!(EditCall);
