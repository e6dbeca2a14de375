//! Says that its answer lies at an odd address.
//!
//! The answer is malformed.

use core::hint::black_box;
use core::ptr;

use hostile_guests::{Hostile, hostile};

struct ResultMisaligned;

impl Hostile for ResultMisaligned {}

unsafe fn answer(_: *mut u8) -> *mut u8 {
    ptr::without_provenance_mut(black_box(0x1001))
}

hostile!(ResultMisaligned, answer = answer);
