//! Says that nothing should be done, whatever the situation is.
//!
//! Where the compaction is required the next of the chain runs; else the answer stands.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct UnchangedWhenRequired;

impl Hostile for UnchangedWhenRequired {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        unchanged("It is fine as it is.")
    }
}

hostile!(UnchangedWhenRequired);
