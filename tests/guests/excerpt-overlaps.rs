//! Keeps runs that overlap, so that a text would be in the result twice.
//!
//! The plan is invalid: runs do not overlap.

use hostile_guests::{
    Change, Failure, Hostile, Report, Run, Situation, find_excerptable, hostile, nothing_to_attack,
    rewrite,
};

struct ExcerptOverlaps;

impl Hostile for ExcerptOverlaps {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find_excerptable() else {
            return nothing_to_attack();
        };
        let run = |start: u32| Run {
            start,
            end: start + 20,
        };
        let runs = vec![run(0), run(19)];
        rewrite(place.unit, vec![place.edit(Change::Excerpt(runs))])
    }
}

hostile!(ExcerptOverlaps);
