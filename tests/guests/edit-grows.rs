//! Replaces a text by a longer one.
//!
//! The plan is invalid: a rewritten part may only shrink.

use hostile_guests::{
    Change, Failure, Hostile, PartTraits, Report, Situation, find, hostile, nothing_to_attack,
    rewrite,
};

struct EditGrows;

impl Hostile for EditGrows {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, part)) = find(|_, _, part| part.traits.contains(PartTraits::REWRITABLE))
        else {
            return nothing_to_attack();
        };
        let longer = "and so it went on ".repeat(part.tokens as usize + 1);
        rewrite(place.unit, vec![place.edit(Change::Text(longer))])
    }
}

hostile!(EditGrows);
