//! Calls the host from within the allocator that the host calls while it hands over an answer.
//!
//! The component model forbids it: the call ends as a trap.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, polite_pieces, tokenizer,
};

struct AllocatorCallsHost;

impl Hostile for AllocatorCallsHost {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        ARMED.store(true, Ordering::Relaxed);
        compacted(polite_pieces(&history::units()))
    }
}

struct Allocator;

static ARMED: AtomicBool = AtomicBool::new(false);

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: all is passed on to the system's allocator.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ARMED.load(Ordering::Relaxed) {
            tokenizer::count("from within");
        }
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

hostile!(AllocatorCallsHost);
