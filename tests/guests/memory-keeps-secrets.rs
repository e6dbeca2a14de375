//! Fills its memory with a pattern and answers well. Before, it looks whether memory that must be
//! fresh is all zeros, and traps if it is not.
//!
//! Memory that one call left behind must never be seen by the next: run it twice, and it never traps.

use core::arch::wasm32::memory_grow;
use core::hint::black_box;

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, nothing_to_attack,
    polite_pieces,
};

struct MemoryKeepsSecrets;

impl Hostile for MemoryKeepsSecrets {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let before = memory_grow::<0>(PAGES);
        if before == usize::MAX {
            return nothing_to_attack();
        }
        // SAFETY: these pages are the guest's own, and nothing else knows of them.
        let fresh =
            unsafe { core::slice::from_raw_parts_mut((before << 16) as *mut u8, PAGES << 16) };
        assert!(
            black_box(&fresh).iter().all(|byte| *byte == 0),
            "another call left something behind"
        );
        black_box(fresh).fill(0xa5);
        compacted(polite_pieces(&history::units()))
    }
}

/// 8 MiB.
const PAGES: usize = 128;

hostile!(MemoryKeepsSecrets);
