//! Returns a string that begins inside its memory and claims 2 GiB.
//!
//! The host reads nothing of it and reserves nothing for it: the answer is malformed, or too large.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct StringPastTheEnd;

impl Hostile for StringPastTheEnd {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let somewhere = "x".repeat(8).leak().as_mut_ptr();
        let length = black_box(0x7fff_fff0);
        // SAFETY: it is not; that is the attack.
        unchanged(unsafe { String::from_raw_parts(somewhere, length, length) })
    }
}

hostile!(StringPastTheEnd);
