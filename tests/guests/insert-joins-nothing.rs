//! Inserts a text that is to join the message before it, where none is.
//!
//! The plan is invalid.

use hostile_guests::{
    Failure, Hostile, Placement, Report, Role, Situation, compacted, history, hostile, insert,
    polite_pieces,
};

struct InsertJoinsNothing;

impl Hostile for InsertJoinsNothing {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&history::units());
        pieces.insert(
            0,
            insert(Role::User, Placement::JoinBefore, "Before all.".to_owned()),
        );
        compacted(pieces)
    }
}

hostile!(InsertJoinsNothing);
