//! Gives reasons for units that there are not, with codes that it never declared.
//!
//! The plan is invalid, and nothing is looked up by a guest's number unchecked.

use hostile_guests::{
    Failure, Hostile, Outcome, Plan, Reason, Report, Situation, Span, history, hostile,
    polite_pieces,
};

struct ReasonsHostile;

impl Hostile for ReasonsHostile {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let reason = |first, count, code: &str| Reason {
            units: Span { first, count },
            code: code.to_owned(),
        };
        Ok(Report {
            outcome: Outcome::Compacted(Plan {
                pieces: polite_pieces(&history::units()),
                reasons: vec![
                    reason(u32::MAX, u32::MAX, "old"),
                    reason(1, u32::MAX, "old"),
                    reason(0, 0, "old"),
                    reason(0, 1, "never-declared"),
                    reason(0, 1, "\u{1b}[2J\n"),
                    reason(0, 1, ""),
                ],
            }),
            metrics: Vec::new(),
        })
    }
}

hostile!(ReasonsHostile);
