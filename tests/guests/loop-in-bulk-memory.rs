//! Copies and fills megabytes without end. One such instruction runs long, and a host that looks
//! at the clock only between instructions looks rarely.
//!
//! The host charges these instructions by their size, or its memory limit keeps each of them short.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile};

struct LoopInBulkMemory;

impl Hostile for LoopInBulkMemory {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let mut from = vec![1u8; SIZE];
        let mut to = vec![0u8; SIZE];
        let mut turns = 0u8;
        loop {
            black_box(&mut to).copy_from_slice(black_box(&from));
            turns = turns.wrapping_add(1);
            black_box(&mut from).fill(turns);
        }
    }
}

const SIZE: usize = 8 << 20;

hostile!(LoopInBulkMemory);
