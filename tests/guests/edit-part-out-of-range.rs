//! Edits a part that an existing message does not have.
//!
//! The plan is invalid.

use hostile_guests::{
    Change, Edit, Failure, Hostile, PartTraits, Report, Situation, find, hostile,
    nothing_to_attack, rewrite,
};

struct EditPartOutOfRange;

impl Hostile for EditPartOutOfRange {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|_, _, part| part.traits.contains(PartTraits::REWRITABLE))
        else {
            return nothing_to_attack();
        };
        rewrite(
            place.unit,
            vec![Edit {
                part: u32::MAX,
                ..place.edit(Change::Text(String::new()))
            }],
        )
    }
}

hostile!(EditPartOutOfRange);
