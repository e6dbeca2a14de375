//! Writes to both standard streams without end, never with a line break.
//!
//! The host keeps only so much of it, and counts the calls.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};
use wasip2::cli::{stderr, stdout};

struct OutputFlood;

impl Hostile for OutputFlood {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let (out, err) = (stdout::get_stdout(), stderr::get_stderr());
        let bytes = [b'x'; 4096];
        while out.blocking_write_and_flush(&bytes).is_ok()
            && err.blocking_write_and_flush(&bytes).is_ok()
        {}
        unchanged("the streams are closed".to_owned())
    }
}

hostile!(OutputFlood);
