//! Declares 300,000 codes.
//!
//! The bound holds for every export; a host that keeps counters by code keeps few.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectManyCodes;

impl Hostile for IntrospectManyCodes {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            reason_codes: (0..300_000)
                .map(|number| format!("code-{number}"))
                .collect(),
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectManyCodes);
