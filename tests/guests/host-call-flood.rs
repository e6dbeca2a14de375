//! Calls every import that there is without end.
//!
//! Fuel does not charge what a host function does: time, and the count of host calls, end it, and
//! nothing that the host keeps grows.

use core::hint::black_box;

use hostile_guests::{Conversation, Failure, Hostile, Report, Situation, hostile, tokenizer};

struct HostCallFlood;

impl Hostile for HostCallFlood {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let mut unit = 0u32;
        loop {
            black_box(conversation.units());
            black_box(conversation.read(0, u32::MAX));
            black_box(conversation.tools());
            black_box(conversation.reference(unit));
            black_box(tokenizer::count(
                "one two three four five six seven eight nine ten",
            ));
            unit = unit.wrapping_add(1);
        }
    }
}

hostile!(HostCallFlood);
