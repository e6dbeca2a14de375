//! Gives a million reasons.
//!
//! The host bounds what it copies out of a guest, before it copies.

use hostile_guests::{
    Failure, Hostile, Outcome, Plan, Reason, Report, Situation, Span, history, hostile,
    polite_pieces,
};

struct ReasonsFlood;

impl Hostile for ReasonsFlood {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let reasons = (0..1_000_000)
            .map(|_| Reason {
                units: Span { first: 0, count: 1 },
                code: String::new(),
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

hostile!(ReasonsFlood);
