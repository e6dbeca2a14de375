//! Calls every import that there is without end.
//!
//! Fuel does not charge what a host function does: time, and the count of host calls, end it, and
//! nothing that the host keeps grows.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, history, hostile, tokenizer};

struct HostCallFlood;

impl Hostile for HostCallFlood {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut unit = 0u32;
        loop {
            black_box(history::units());
            black_box(history::read(0, u32::MAX));
            black_box(history::tools());
            black_box(history::reference(unit));
            black_box(tokenizer::count(
                "one two three four five six seven eight nine ten",
            ));
            unit = unit.wrapping_add(1);
        }
    }
}

hostile!(HostCallFlood);
