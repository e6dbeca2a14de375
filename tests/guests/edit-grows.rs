//! Replaces a text by a longer one.
//!
//! The plan is invalid: a rewritten part may only shrink.

use hostile_guests::{
    Change, Conversation, Failure, Hostile, PartTraits, Report, Situation, find, hostile,
    nothing_to_attack, rewrite,
};

struct EditGrows;

impl Hostile for EditGrows {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, part)) = find(conversation, |_, _, part| {
            part.traits.contains(PartTraits::REWRITABLE)
        }) else {
            return nothing_to_attack();
        };
        let longer = "and so it went on ".repeat(part.tokens as usize + 1);
        rewrite(
            conversation,
            place.unit,
            vec![place.edit(Change::Text(longer))],
        )
    }
}

hostile!(EditGrows);
