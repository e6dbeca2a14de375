//! Describes itself in 24 MiB.
//!
//! The bound holds for every export.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectEnormous;

impl Hostile for IntrospectEnormous {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            description: "very good ".repeat((24 << 20) / 10),
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectEnormous);
