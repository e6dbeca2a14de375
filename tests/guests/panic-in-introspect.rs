//! Panics in `introspect`.
//!
//! A component that cannot say who it is must not bring down the list of those that can.

use hostile_guests::{Failure, Hostile, Introspection, hostile};

struct PanicInIntrospect;

impl Hostile for PanicInIntrospect {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        panic!("who am I?")
    }
}

hostile!(PanicInIntrospect);
