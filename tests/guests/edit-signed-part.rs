//! Replaces a part that is signed, encrypted or unknown. A provider refuses a signature that does not
//! fit its text.
//!
//! The plan is invalid: such a part stays or goes.

use hostile_guests::{
    Change, Content, Failure, Hostile, Report, Situation, Traits, find, hostile, nothing_to_attack,
    rewrite,
};

struct EditSignedPart;

impl Hostile for EditSignedPart {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|unit, _, part| {
            unit.traits.contains(Traits::OPAQUE)
                && matches!(part.content, Content::Opaque(_) | Content::Thinking(_))
        }) else {
            return nothing_to_attack();
        };
        rewrite(place.unit, vec![place.edit(Change::Text("-".to_owned()))])
    }
}

hostile!(EditSignedPart);
