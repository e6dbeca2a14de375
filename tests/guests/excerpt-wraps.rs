//! Keeps a run that ends before it begins, at the highest offsets.
//!
//! The plan is invalid, and no sum wraps.

use hostile_guests::{
    Change, Failure, Hostile, Report, Run, Situation, find_excerptable, hostile, nothing_to_attack,
    rewrite,
};

struct ExcerptWraps;

impl Hostile for ExcerptWraps {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find_excerptable() else {
            return nothing_to_attack();
        };
        let runs = vec![Run {
            start: u32::MAX,
            end: 0,
        }];
        rewrite(place.unit, vec![place.edit(Change::Excerpt(runs))])
    }
}

hostile!(ExcerptWraps);
