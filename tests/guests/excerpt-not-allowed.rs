//! Keeps an excerpt of what it may not cut: a tool call, or a text without the right.
//!
//! The plan is invalid: the part is not excerptable.

use hostile_guests::{
    Change, Content, Failure, Hostile, PartTraits, Report, Run, Situation, find, hostile,
    nothing_to_attack, rewrite,
};

struct ExcerptNotAllowed;

impl Hostile for ExcerptNotAllowed {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|_, _, part| {
            !part.traits.contains(PartTraits::EXCERPTABLE)
                && matches!(&part.content, Content::Text(text) if text.len() >= 16)
        }) else {
            return nothing_to_attack();
        };
        let runs = vec![Run { start: 0, end: 16 }];
        rewrite(place.unit, vec![place.edit(Change::Excerpt(runs))])
    }
}

hostile!(ExcerptNotAllowed);
