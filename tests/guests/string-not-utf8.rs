//! Returns a string that is not UTF-8.
//!
//! The answer is malformed. It is not mended, for then the host would go on with a guest's garbage.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct StringNotUtf8;

impl Hostile for StringNotUtf8 {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let bytes = black_box(vec![b'a', 0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80]);
        // SAFETY: it is not; that is the attack.
        unchanged(unsafe { String::from_utf8_unchecked(bytes) })
    }
}

hostile!(StringNotUtf8);
