//! Asks for almost all that 32 bits can address, in one step.
//!
//! The host refuses before it reserves anything.

use core::arch::wasm32::{memory_grow, unreachable};
use core::hint::black_box;

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, polite_pieces,
};

struct MemoryBombAtOnce;

impl Hostile for MemoryBombAtOnce {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let before = memory_grow::<0>(0xf9c0);
        if before == usize::MAX {
            unreachable()
        }
        black_box(before);
        compacted(polite_pieces(&history::units()))
    }
}

hostile!(MemoryBombAtOnce);
