//! Writes megabytes of line breaks to its standard output in one call, without asking how much it may write.
//!
//! The host could not interrupt itself while it makes lines of them: the call is a fault.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct WritesAtOnce;

impl Hostile for WritesAtOnce {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let out = wasip2::cli::stdout::get_stdout();
        let _ = out.write(&vec![b'\n'; 12 << 20]);
        unchanged("it is written".to_owned())
    }
}

hostile!(WritesAtOnce);
