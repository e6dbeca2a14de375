//! Panics with a message.
//!
//! A guest's panic ends as the trap `unreachable`; the message may hold text of the conversation, so
//! the host does not log it.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile};

struct Panic;

impl Hostile for Panic {
    fn compact(situation: Situation, _: String) -> Result<Report, Failure> {
        panic!("it went wrong at {} tokens", situation.used)
    }
}

hostile!(Panic);
