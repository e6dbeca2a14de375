//! Says that its answer lies outside its memory.
//!
//! The host reads nothing there: the answer is malformed.

use core::hint::black_box;
use core::ptr;

use hostile_guests::{Hostile, hostile};

struct ResultOutOfBounds;

impl Hostile for ResultOutOfBounds {}

unsafe fn answer(_: *mut u8) -> *mut u8 {
    ptr::without_provenance_mut(black_box(0xffff_fff0))
}

hostile!(ResultOutOfBounds, answer = answer);
