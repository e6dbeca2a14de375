//! Gives a config schema that is JSON and no schema.
//!
//! The schema is refused.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectSchemaNotASchema;

impl Hostile for IntrospectSchemaNotASchema {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            config_schema: "{\"type\": [7], \"properties\": \"none\", \"minimum\": {}}".to_owned(),
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectSchemaNotASchema);
