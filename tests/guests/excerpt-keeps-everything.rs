//! Keeps all of a text, in one run for each 16 bytes.
//!
//! An excerpt that saves nothing changes nothing, so the result is over the budget.

use hostile_guests::{
    Change, Failure, Hostile, Report, Run, Situation, find_excerptable, hostile, nothing_to_attack,
    rewrite,
};

struct ExcerptKeepsEverything;

impl Hostile for ExcerptKeepsEverything {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, text)) = find_excerptable() else {
            return nothing_to_attack();
        };
        let runs = (0..text.len() as u32 / 16)
            .map(|index| Run {
                start: index * 16,
                end: index * 16 + 16,
            })
            .collect();
        rewrite(place.unit, vec![place.edit(Change::Excerpt(runs))])
    }
}

hostile!(ExcerptKeepsEverything);
