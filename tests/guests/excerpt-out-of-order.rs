//! Keeps the end of a text before its beginning.
//!
//! The plan is invalid: runs keep their order.

use hostile_guests::{
    Change, Failure, Hostile, Report, Run, Situation, find_excerptable, hostile, nothing_to_attack,
    rewrite,
};

struct ExcerptOutOfOrder;

impl Hostile for ExcerptOutOfOrder {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find_excerptable() else {
            return nothing_to_attack();
        };
        let run = |start: u32| Run {
            start,
            end: start + 20,
        };
        let runs = vec![run(40), run(0)];
        rewrite(place.unit, vec![place.edit(Change::Excerpt(runs))])
    }
}

hostile!(ExcerptOutOfOrder);
