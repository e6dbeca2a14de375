//! Keeps a unit and also rewrites it.
//!
//! The plan is invalid: a unit comes once.

use hostile_guests::{
    Change, Failure, Hostile, PartTraits, Piece, Report, Rewrite, Situation, compacted, find,
    history, hostile, keep_where, nothing_to_attack,
};

struct PlanKeepsAndRewrites;

impl Hostile for PlanKeepsAndRewrites {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|_, _, part| part.traits.contains(PartTraits::REWRITABLE))
        else {
            return nothing_to_attack();
        };
        let mut pieces = keep_where(&history::units(), |_, _| true);
        pieces.insert(
            place.unit as usize + 1,
            Piece::Rewrite(Rewrite {
                unit: place.unit,
                edits: vec![place.edit(Change::Text("-".to_owned()))],
            }),
        );
        compacted(pieces)
    }
}

hostile!(PlanKeepsAndRewrites);
