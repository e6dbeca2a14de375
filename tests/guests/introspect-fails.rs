//! Fails to say who it is, though it was given no config.
//!
//! The contract says that this always succeeds: the component is refused.

use hostile_guests::{Failure, Hostile, Introspection, hostile};

struct IntrospectFails;

impl Hostile for IntrospectFails {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Err(Failure::Other("I would rather not say.".to_owned()))
    }
}

hostile!(IntrospectFails);
