//! Asks for almost all that 32 bits can address, in one step.
//!
//! The host refuses before it reserves anything.

use core::arch::wasm32::{memory_grow, unreachable};
use core::hint::black_box;

use hostile_guests::{
    Conversation, Failure, Hostile, Report, Situation, compacted, hostile, polite_pieces,
};

struct MemoryBombAtOnce;

impl Hostile for MemoryBombAtOnce {
    fn compact(conversation: &Conversation, _: Situation, _: String) -> Result<Report, Failure> {
        let before = memory_grow::<0>(0xf9c0);
        if before == usize::MAX {
            unreachable()
        }
        black_box(before);
        compacted(polite_pieces(&conversation.units()))
    }
}

hostile!(MemoryBombAtOnce);
