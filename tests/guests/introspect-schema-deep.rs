//! Gives a config schema that is nested 100,000 deep.
//!
//! The host's stack does not depend on a guest's text: the schema is refused.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectSchemaDeep;

impl Hostile for IntrospectSchemaDeep {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            config_schema: format!("{}true{}", "{\"not\":".repeat(DEPTH), "}".repeat(DEPTH)),
            ..polite_introspection()
        })
    }
}

const DEPTH: usize = 100_000;

hostile!(IntrospectSchemaDeep);
