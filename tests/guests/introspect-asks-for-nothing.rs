//! Asks for no fuel, no memory and no time.
//!
//! The host takes it at its word or ignores it; nothing crashes or divides by zero.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectAsksForNothing;

impl Hostile for IntrospectAsksForNothing {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            timeout_ms: Some(0),
            memory_mib: Some(0),
            fuel: Some(0),
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectAsksForNothing);
