//! Answers well, and then never returns from the function that frees the answer, which the host
//! calls when it has read it.
//!
//! The limits hold until the guest has given up control for good. The answer may be thrown away.

use core::hint::black_box;

use hostile_guests::{Hostile, hostile};

struct LoopInPostReturn;

impl Hostile for LoopInPostReturn {}

unsafe fn free_answer(_: *mut u8) {
    let mut turns = 0u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

hostile!(LoopInPostReturn, free_answer = free_answer);
