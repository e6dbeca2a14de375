//! Gives back the conversation that was lent to it twice.
//!
//! The second time there is no such handle: the call ends as a fault.

use core::hint::black_box;

use hostile_guests::{Conversation, Failure, Hostile, Report, Situation, hostile, unchanged};

struct DropHandleTwice;

impl Hostile for DropHandleTwice {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let number = conversation.take_handle();
        for _ in 0..2 {
            // SAFETY: it is not the second time; that is the attack.
            drop(unsafe { Conversation::from_handle(black_box(number)) });
        }
        unchanged("")
    }
}

hostile!(DropHandleTwice);
