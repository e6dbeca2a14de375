//! Asks for all the fuel, memory and time that there is.
//!
//! The host's policy caps what a strategy asks for.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectLies;

impl Hostile for IntrospectLies {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            timeout_ms: Some(u32::MAX),
            memory_mib: Some(u32::MAX),
            fuel: Some(u64::MAX),
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectLies);
