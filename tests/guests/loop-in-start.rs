//! Never returns from the function that runs when the component is instantiated, before any
//! export is called.
//!
//! Instantiating a guest is running it: the limits hold there too.

use core::hint::black_box;

use hostile_guests::{Hostile, hostile};

struct LoopInStart;

impl Hostile for LoopInStart {}

#[unsafe(export_name = "_initialize")]
extern "C" fn initialize() {
    let mut turns = 0u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

hostile!(LoopInStart);
