//! Drops all units and inserts a text that says so.
//!
//! The plan is invalid.

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, note, nothing_to_attack,
};

struct DropEverything;

impl Hostile for DropEverything {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        if history::units().is_empty() {
            return nothing_to_attack();
        }
        compacted(vec![note("Nothing happened.")])
    }
}

hostile!(DropEverything);
