//! Edits a part of a message that its unit does not have.
//!
//! The plan is invalid, and nothing is looked up by a guest's number unchecked.

use hostile_guests::{
    Change, Edit, Failure, Hostile, Report, Situation, Traits, find, hostile, nothing_to_attack,
    rewrite,
};

struct EditOutOfRange;

impl Hostile for EditOutOfRange {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|unit, _, _| !unit.traits.contains(Traits::PROTECTED)) else {
            return nothing_to_attack();
        };
        rewrite(
            place.unit,
            vec![Edit {
                message: u32::MAX,
                part: u32::MAX,
                change: Change::Remove,
            }],
        )
    }
}

hostile!(EditOutOfRange);
