//! Writes what it saw of the conversation to its standard streams, in pieces, with bytes that are not UTF-8.
//!
//! All of it goes to the log of the call, and nowhere else.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, polite_report};
use wasip2::cli::{stderr, stdout};

struct WritesLines;

impl Hostile for WritesLines {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let (out, err) = (stdout::get_stdout(), stderr::get_stderr());
        for piece in [&b"high "[..], b"water\nat ", b"noon \xff\x1b[31m"] {
            let _ = out.blocking_write_and_flush(piece);
        }
        let _ = err.blocking_write_and_flush(b"no berth\n");
        polite_report()
    }
}

hostile!(WritesLines);
