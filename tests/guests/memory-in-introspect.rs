//! Takes memory until it is refused, in `introspect`.
//!
//! The memory limit holds for this call as for any other.

use core::hint::black_box;

use hostile_guests::{Failure, Hostile, Introspection, hostile};

struct MemoryInIntrospect;

impl Hostile for MemoryInIntrospect {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        let mut taken = Vec::new();
        loop {
            taken.push(black_box(vec![1u8; 1 << 20]));
        }
    }
}

hostile!(MemoryInIntrospect);
