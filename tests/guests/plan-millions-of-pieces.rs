//! Inserts a text a million times.
//!
//! The host bounds the pieces of a plan, and what it copies out of a guest.

use hostile_guests::{Failure, Hostile, Report, Situation, compacted, hostile, note};

struct PlanMillionsOfPieces;

impl Hostile for PlanMillionsOfPieces {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        compacted((0..1_000_000).map(|_| note("")).collect())
    }
}

hostile!(PlanMillionsOfPieces);
