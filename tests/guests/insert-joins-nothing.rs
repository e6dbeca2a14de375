//! Inserts a text that is to join the message before it, where none is.
//!
//! The plan is invalid.

use hostile_guests::{
    Conversation, Failure, Hostile, Placement, Report, Role, Situation, compacted, hostile, insert,
    polite_pieces,
};

struct InsertJoinsNothing;

impl Hostile for InsertJoinsNothing {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&conversation.units());
        pieces.insert(
            0,
            insert(Role::User, Placement::JoinBefore, "Before all.".to_owned()),
        );
        compacted(pieces)
    }
}

hostile!(InsertJoinsNothing);
