//! Replaces a tool output that the model has not seen by a text of its own. The model would act on
//! what no tool said.
//!
//! The plan is invalid: the host alone shortens such outputs.

use hostile_guests::{
    Change, Content, Failure, Hostile, Report, Situation, Traits, find, hostile, nothing_to_attack,
    rewrite,
};

struct EditUnseenOutput;

impl Hostile for EditUnseenOutput {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let Some((place, _)) = find(|unit, _, part| {
            unit.traits.contains(Traits::UNSEEN) && matches!(part.content, Content::Output(_))
        }) else {
            return nothing_to_attack();
        };
        rewrite(place.unit, vec![place.edit(Change::Text("-".to_owned()))])
    }
}

hostile!(EditUnseenOutput);
