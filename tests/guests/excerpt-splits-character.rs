//! Keeps runs that begin and end at each byte, also within characters.
//!
//! The plan is invalid, or all of its runs happen to lie between characters.

use hostile_guests::{
    Change, Failure, Hostile, Report, Run, Situation, find_excerptable, hostile, nothing_to_attack,
    rewrite,
};

struct ExcerptSplitsCharacter;

impl Hostile for ExcerptSplitsCharacter {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, text)) = find_excerptable() else {
            return nothing_to_attack();
        };
        let Some(inside) = (20..text.len()).find(|at| !text.is_char_boundary(*at)) else {
            return nothing_to_attack();
        };
        let runs = vec![Run {
            start: 0,
            end: inside as u32,
        }];
        rewrite(place.unit, vec![place.edit(Change::Excerpt(runs))])
    }
}

hostile!(ExcerptSplitsCharacter);
