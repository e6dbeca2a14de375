//! Ends its program, as if it were one.
//!
//! Only the call ends.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct Exits;

impl Hostile for Exits {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        wasip2::cli::exit::exit(Ok(()));
        unchanged("it goes on".to_owned())
    }
}

hostile!(Exits);
