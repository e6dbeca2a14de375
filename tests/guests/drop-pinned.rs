//! Drops everything that is protected and keeps the rest.
//!
//! The plan is invalid.

use hostile_guests::{
    Conversation, Failure, Hostile, Report, Situation, Traits, compacted, hostile, keep_where,
    nothing_to_attack,
};

struct DropPinned;

impl Hostile for DropPinned {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let units = conversation.units();
        let pieces = keep_where(&units, |_, unit| !unit.traits.contains(Traits::PROTECTED));
        if pieces.len() == units.len() {
            return nothing_to_attack();
        }
        compacted(pieces)
    }
}

hostile!(DropPinned);
