//! Asks for units that there are not, with every number that could overflow, and answers well.
//!
//! The answers are short or empty; nothing crashes.

use core::hint::black_box;

use hostile_guests::{
    Failure, Hostile, Report, Situation, history, hostile, polite_report, unchanged,
};

struct ReadOutOfRange;

impl Hostile for ReadOutOfRange {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        for first in [0, 1, u32::MAX / 2, u32::MAX - 1, u32::MAX] {
            for count in [0, 1, u32::MAX / 2, u32::MAX - 1, u32::MAX] {
                black_box(history::read(first, count));
            }
            black_box(history::reference(first));
        }
        if !history::read(u32::MAX, u32::MAX).is_empty() || history::reference(u32::MAX).is_some() {
            return unchanged("there is a unit past the end");
        }
        polite_report()
    }
}

hostile!(ReadOutOfRange);
