//! Keeps all units, and exchanges two of them.
//!
//! The plan is invalid: units keep their order.

use hostile_guests::{
    Failure, Hostile, Report, Situation, Traits, compacted, history, hostile, keep_where,
    nothing_to_attack,
};

struct PlanOutOfOrder;

impl Hostile for PlanOutOfOrder {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let units = history::units();
        let mut pieces = keep_where(&units, |_, _| true);
        // Not a protected one, or the plan would seem to drop it.
        let early = units
            .windows(2)
            .position(|pair| !pair[0].traits.contains(Traits::PROTECTED));
        match early {
            Some(early) => pieces.swap(early, early + 1),
            None => return nothing_to_attack(),
        }
        compacted(pieces)
    }
}

hostile!(PlanOutOfOrder);
