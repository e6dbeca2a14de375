//! Keeps all but one short word in the middle of a text, such as the `not` of a warning.
//!
//! What is shorter than the host's line about it is not left out: the word stays, or the plan saves nothing.

use hostile_guests::{
    Change, Failure, Hostile, Report, Run, Situation, find_excerptable, hostile, nothing_to_attack,
    rewrite,
};

struct ExcerptHidesNot;

impl Hostile for ExcerptHidesNot {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, text)) = find_excerptable() else {
            return nothing_to_attack();
        };
        let Some(middle) = (text.len() / 2..text.len())
            .find(|at| text.is_char_boundary(*at) && text.is_char_boundary(*at + 3))
        else {
            return nothing_to_attack();
        };
        let end = text.len() as u32;
        let runs = vec![
            Run {
                start: 0,
                end: middle as u32,
            },
            Run {
                start: middle as u32 + 3,
                end,
            },
        ];
        rewrite(place.unit, vec![place.edit(Change::Excerpt(runs))])
    }
}

hostile!(ExcerptHidesNot);
