//! Puts a sentence together from single words of a text.
//!
//! The plan is invalid: a run has at least 16 bytes.

use hostile_guests::{
    Change, Failure, Hostile, Report, Run, Situation, find_excerptable, hostile, nothing_to_attack,
    rewrite,
};

struct ExcerptPicksWords;

impl Hostile for ExcerptPicksWords {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, text)) = find_excerptable() else {
            return nothing_to_attack();
        };
        let runs = (0..text.len() as u32 - 3)
            .step_by(40)
            .map(|start| Run {
                start,
                end: start + 3,
            })
            .collect();
        rewrite(place.unit, vec![place.edit(Change::Excerpt(runs))])
    }
}

hostile!(ExcerptPicksWords);
