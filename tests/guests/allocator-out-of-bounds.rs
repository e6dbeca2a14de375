//! Its allocator gives the host a place outside its memory, for the answer of an import.
//!
//! The host must not write there: the call ends as a fault.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use hostile_guests::{
    Failure, Hostile, Report, Situation, compacted, history, hostile, polite_pieces,
};

struct AllocatorOutOfBounds;

impl Hostile for AllocatorOutOfBounds {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        ARMED.store(true, Ordering::Relaxed);
        compacted(polite_pieces(&history::units()))
    }
}

struct Allocator;

static ARMED: AtomicBool = AtomicBool::new(false);

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: it is not; that is the attack.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ARMED.load(Ordering::Relaxed) {
            return core::ptr::without_provenance_mut(0xffff_fff0);
        }
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

hostile!(AllocatorOutOfBounds);
