//! Never returns from `introspect`, which a host calls to show what a strategy is, perhaps before
//! anyone chose to run it.
//!
//! The limits hold for this call as for any other.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Introspection, hostile};

struct LoopInIntrospect;

impl Hostile for LoopInIntrospect {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        let mut turns = 0u64;
        loop {
            turns = black_box(turns.wrapping_add(1));
        }
    }
}

hostile!(LoopInIntrospect);
