//! Never returns from the allocator that the host calls while it hands over the answer of an import.
//!
//! The guest is on the stack twice then, and the limits must end it all the same.

use core::hint::black_box;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, polite_pieces,
};

struct LoopInAllocator;

impl Hostile for LoopInAllocator {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        ARMED.store(true, Ordering::Relaxed);
        compacted(polite_pieces(&history::units()))
    }
}

struct Allocator;

static ARMED: AtomicBool = AtomicBool::new(false);

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: all is passed on to the system's allocator, or nothing ever comes back.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut turns = 0u64;
        while ARMED.load(Ordering::Relaxed) {
            turns = black_box(turns.wrapping_add(1));
        }
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

hostile!(LoopInAllocator);
