//! Asks for units that there are not, with every number that could overflow, and answers well.
//!
//! The answers are short or empty; nothing crashes.

use core::hint::black_box;

use hostile_guests::{
    Conversation, Failure, Hostile, Report, Situation, hostile, polite_report, unchanged,
};

struct ReadOutOfRange;

impl Hostile for ReadOutOfRange {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        for first in [0, 1, u32::MAX / 2, u32::MAX - 1, u32::MAX] {
            for count in [0, 1, u32::MAX / 2, u32::MAX - 1, u32::MAX] {
                black_box(conversation.read(first, count));
            }
            black_box(conversation.reference(first));
        }
        if !conversation.read(u32::MAX, u32::MAX).is_empty()
            || conversation.reference(u32::MAX).is_some()
        {
            return unchanged("there is a unit past the end");
        }
        polite_report(conversation)
    }
}

hostile!(ReadOutOfRange);
