//! Keeps a run that ends behind the text.
//!
//! The plan is invalid: a run lies in the text.

use hostile_guests::{
    Change, Failure, Hostile, Report, Run, Situation, find_excerptable, hostile, nothing_to_attack,
    rewrite,
};

struct ExcerptOutOfRange;

impl Hostile for ExcerptOutOfRange {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, text)) = find_excerptable() else {
            return nothing_to_attack();
        };
        let end = text.len() as u32;
        let runs = vec![Run {
            start: end - 20,
            end: end + 1,
        }];
        rewrite(place.unit, vec![place.edit(Change::Excerpt(runs))])
    }
}

hostile!(ExcerptOutOfRange);
