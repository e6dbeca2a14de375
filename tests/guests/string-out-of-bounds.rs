//! Returns a string that lies outside its memory.
//!
//! The host reads nothing there: the answer is malformed.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct StringOutOfBounds;

impl Hostile for StringOutOfBounds {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let nowhere = core::ptr::without_provenance_mut(black_box(0xfff0_0000));
        // SAFETY: it is not; that is the attack.
        unchanged(unsafe { String::from_raw_parts(nowhere, 0x8000, 0x8000) })
    }
}

hostile!(StringOutOfBounds);
