//! Hands the host a string that lies outside its memory, as the argument of an import.
//!
//! The call ends as a fault before the host's function sees anything.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, tokenizer, unchanged};

struct StringOutOfBoundsToHost;

impl Hostile for StringOutOfBoundsToHost {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let nowhere: *const u8 = core::ptr::without_provenance(black_box(0xfff0_0000));
        // SAFETY: it is not; that is the attack.
        let text =
            unsafe { core::str::from_utf8_unchecked(core::slice::from_raw_parts(nowhere, 0x8000)) };
        unchanged(tokenizer::count(text).to_string())
    }
}

hostile!(StringOutOfBoundsToHost);
