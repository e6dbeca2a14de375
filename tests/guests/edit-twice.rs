//! Edits a part twice.
//!
//! The plan is invalid.

use hostile_guests::{
    Change, Failure, Hostile, PartTraits, Report, Situation, find, hostile, nothing_to_attack,
    rewrite,
};

struct EditTwice;

impl Hostile for EditTwice {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|_, _, part| part.traits.contains(PartTraits::REWRITABLE))
        else {
            return nothing_to_attack();
        };
        rewrite(
            place.unit,
            vec![
                place.edit(Change::Text("-".to_owned())),
                place.edit(Change::Text("+".to_owned())),
            ],
        )
    }
}

hostile!(EditTwice);
