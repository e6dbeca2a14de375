//! Replaces the text of a part that the host's policy does not let it replace.
//!
//! The plan is invalid.

use hostile_guests::{
    Change, Content, Failure, Hostile, PartTraits, Report, Situation, Traits, find, hostile,
    nothing_to_attack, rewrite,
};

struct EditNotRewritable;

impl Hostile for EditNotRewritable {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|unit, _, part| {
            !unit.traits.contains(Traits::PROTECTED)
                && !part.traits.contains(PartTraits::REWRITABLE)
                && matches!(
                    part.content,
                    Content::Text(_) | Content::Output(_) | Content::Thinking(_)
                )
        }) else {
            return nothing_to_attack();
        };
        rewrite(place.unit, vec![place.edit(Change::Text("-".to_owned()))])
    }
}

hostile!(EditNotRewritable);
