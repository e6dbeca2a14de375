//! Drops a call that has no output yet. Its output will come, and nothing will be there that it answers.
//!
//! The plan is invalid.

use hostile_guests::{
    Failure, Hostile, Report, Situation, Traits, compacted, history, hostile, keep_where,
    nothing_to_attack,
};

struct DropPending;

impl Hostile for DropPending {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let units = history::units();
        let pieces = keep_where(&units, |_, unit| !unit.traits.contains(Traits::PENDING));
        if pieces.len() == units.len() {
            return nothing_to_attack();
        }
        compacted(pieces)
    }
}

hostile!(DropPending);
