//! Inserts 32 MiB of text.
//!
//! The host bounds what it copies out of a guest, before it copies.

use hostile_guests::{
    Failure, Hostile, Placement, Report, Role, Situation, compacted, history, hostile, insert,
    polite_pieces,
};

struct StringEnormousInsertion;

impl Hostile for StringEnormousInsertion {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut pieces = polite_pieces(&history::units());
        // Moved, never copied: it has to fit in the guest's memory.
        pieces.push(insert(
            Role::User,
            Placement::Alone,
            "more ".repeat((32 << 20) / 5),
        ));
        compacted(pieces)
    }
}

hostile!(StringEnormousInsertion);
