//! Reads far outside its memory.
//!
//! A trap: there is nothing there that a guest can reach.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};

struct WildLoad;

impl Hostile for WildLoad {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let nowhere: *const u32 = core::ptr::without_provenance(black_box(0xffff_0000));
        // SAFETY: it is not; that is the attack.
        unchanged(unsafe { nowhere.read_volatile() }.to_string())
    }
}

hostile!(WildLoad);
