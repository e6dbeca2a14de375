//! Drops everything that is protected and keeps the rest.
//!
//! The plan is invalid.

use hostile_guests::{
    Failure, Hostile, Report, Situation, Traits, compacted, history, hostile, keep_where,
    nothing_to_attack,
};

struct DropPinned;

impl Hostile for DropPinned {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let units = history::units();
        let pieces = keep_where(&units, |_, unit| !unit.traits.contains(Traits::PROTECTED));
        if pieces.len() == units.len() {
            return nothing_to_attack();
        }
        compacted(pieces)
    }
}

hostile!(DropPinned);
