//! Says in 48 MiB of text why nothing should be done.
//!
//! The host bounds what it copies out of a guest, before it copies.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct StringEnormous;

impl Hostile for StringEnormous {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        unchanged("because ".repeat(6 << 20))
    }
}

hostile!(StringEnormous);
