//! Drops the newest user message: the task itself.
//!
//! The plan is invalid.

use hostile_guests::{
    Failure, Hostile, Report, Situation, UnitKind, compacted, history, hostile, keep_where,
    nothing_to_attack,
};

struct DropNewestUser;

impl Hostile for DropNewestUser {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let units = history::units();
        let Some(newest) = units.iter().rposition(|unit| unit.kind == UnitKind::User) else {
            return nothing_to_attack();
        };
        compacted(keep_where(&units, |index, _| index != newest))
    }
}

hostile!(DropNewestUser);
