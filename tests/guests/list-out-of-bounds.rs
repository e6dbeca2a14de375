//! Returns a plan whose list of pieces claims four billion of them.
//!
//! The host reserves nothing for a number that a guest says: the answer is malformed.

use core::hint::black_box;

use hostile_guests::{Hostile, hostile};

struct ListOutOfBounds;

impl Hostile for ListOutOfBounds {}

/// `ok(report { outcome: compacted(plan { pieces, .. }), .. })`, as the ABI lays it out: the
/// cases, then address and length of the list.
static ANSWER: [usize; 10] = [0, 0, 8, 0xffff_ffff, 0, 0, 0, 0, 0, 0];

unsafe fn answer(_: *mut u8) -> *mut u8 {
    black_box(&ANSWER).as_ptr().cast_mut().cast()
}

hostile!(ListOutOfBounds, answer = answer);
