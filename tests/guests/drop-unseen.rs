//! Drops a step whose outputs the model has not seen. The model would call its tools again, possibly
//! for ever.
//!
//! The plan is invalid.

use hostile_guests::{
    Failure, Hostile, Report, Situation, Traits, compacted, history, hostile, keep_where,
    nothing_to_attack,
};

struct DropUnseen;

impl Hostile for DropUnseen {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let units = history::units();
        let pieces = keep_where(&units, |_, unit| !unit.traits.contains(Traits::UNSEEN));
        if pieces.len() == units.len() {
            return nothing_to_attack();
        }
        compacted(pieces)
    }
}

hostile!(DropUnseen);
