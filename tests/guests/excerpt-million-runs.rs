//! Keeps millions of runs of a text.
//!
//! The host counts them before it looks at any.

use hostile_guests::{
    Change, Failure, Hostile, Report, Run, Situation, find_excerptable, hostile, nothing_to_attack,
    rewrite,
};

struct ExcerptMillionRuns;

impl Hostile for ExcerptMillionRuns {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find_excerptable() else {
            return nothing_to_attack();
        };
        let run = Run { start: 0, end: 16 };
        let runs = vec![run; 1_000_000];
        rewrite(place.unit, vec![place.edit(Change::Excerpt(runs))])
    }
}

hostile!(ExcerptMillionRuns);
