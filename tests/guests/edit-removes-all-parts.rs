//! Removes every part of a message that has only pictures, documents and the like.
//!
//! The plan is invalid: a message keeps at least one part.

use hostile_guests::{
    Change, Content, Edit, Failure, Hostile, Report, Situation, find, history, hostile,
    nothing_to_attack, rewrite,
};

struct EditRemovesAllParts;

impl Hostile for EditRemovesAllParts {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let found = find(|_, message, _| {
            message
                .parts
                .iter()
                .all(|part| matches!(part.content, Content::Media(_)))
        });
        let Some((place, _)) = found else {
            return nothing_to_attack();
        };
        let parts = history::read(place.unit, 1)
            .first()
            .and_then(|messages| messages.get(place.message as usize))
            .map_or(0, |message| message.parts.len() as u32);
        let edits = (0..parts)
            .map(|part| Edit {
                message: place.message,
                part,
                change: Change::Remove,
            })
            .collect();
        rewrite(place.unit, edits)
    }
}

hostile!(EditRemovesAllParts);
