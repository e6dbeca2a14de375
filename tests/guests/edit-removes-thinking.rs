//! Removes thinking from a step of the turn that goes on. Providers want it back as it was.
//!
//! The plan is invalid: only thinking of finished turns may go.

use hostile_guests::{
    Change, Content, Conversation, Failure, Hostile, Report, Situation, find, hostile,
    nothing_to_attack, rewrite,
};

struct EditRemovesThinking;

impl Hostile for EditRemovesThinking {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(conversation, |_, _, part| {
            matches!(part.content, Content::Thinking(_))
        }) else {
            return nothing_to_attack();
        };
        rewrite(conversation, place.unit, vec![place.edit(Change::Remove)])
    }
}

hostile!(EditRemovesThinking);
