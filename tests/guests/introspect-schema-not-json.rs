//! Gives a config schema that is no JSON.
//!
//! The schema is refused.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectSchemaNotJson;

impl Hostile for IntrospectSchemaNotJson {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            config_schema: "{\"type\": \"object\", ".to_owned(),
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectSchemaNotJson);
