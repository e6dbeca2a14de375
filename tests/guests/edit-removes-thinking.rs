//! Removes thinking from a step of the turn that goes on. Providers want it back as it was.
//!
//! The plan is invalid: only thinking of finished turns may go.

use hostile_guests::{
    Change, Content, Failure, Hostile, Report, Situation, find, hostile, nothing_to_attack, rewrite,
};

struct EditRemovesThinking;

impl Hostile for EditRemovesThinking {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|_, _, part| matches!(part.content, Content::Thinking(_)))
        else {
            return nothing_to_attack();
        };
        rewrite(place.unit, vec![place.edit(Change::Remove)])
    }
}

hostile!(EditRemovesThinking);
