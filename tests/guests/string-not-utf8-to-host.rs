//! Hands the host a string that is not UTF-8, as the argument of an import.
//!
//! The call ends as a fault before the host's function sees anything.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, tokenizer, unchanged};

struct StringNotUtf8ToHost;

impl Hostile for StringNotUtf8ToHost {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let bytes = black_box(vec![b'a', 0xff, 0xc0, 0x80]);
        // SAFETY: it is not; that is the attack.
        let tokens = tokenizer::count(&unsafe { String::from_utf8_unchecked(bytes) });
        unchanged(tokens.to_string())
    }
}

hostile!(StringNotUtf8ToHost);
