//! Gives 20,000 reasons whose codes are all the same 1 MiB of its memory: 20 GB for a host that copies
//! each of them.
//!
//! The host bounds what it copies in one call, not only each string.

use hostile_guests::{
    Failure, Hostile, Outcome, Plan, Reason, Report, Situation, Span, history, hostile,
    polite_pieces,
};

struct StringAmplified;

impl Hostile for StringAmplified {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let text: &'static mut str = "x".repeat(SIZE).leak();
        let reasons = (0..20_000)
            .map(|_| Reason {
                units: Span { first: 0, count: 1 },
                // SAFETY: it is not, since all have one owner's memory; nothing frees it before the
                // host has read it.
                code: unsafe { String::from_raw_parts(text.as_mut_ptr(), SIZE, SIZE) },
            })
            .collect();
        Ok(Report {
            outcome: Outcome::Compacted(Plan {
                pieces: polite_pieces(&history::units()),
                reasons,
            }),
            metrics: Vec::new(),
        })
    }
}

const SIZE: usize = 1 << 20;

hostile!(StringAmplified);
