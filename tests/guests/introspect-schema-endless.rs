//! Gives a config schema that refers to itself.
//!
//! Checking a config against it ends: the schema is refused, or the recursion is bounded.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectSchemaEndless;

impl Hostile for IntrospectSchemaEndless {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            config_schema: "{\"allOf\":[{\"$ref\":\"#\"}]}".to_owned(),
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectSchemaEndless);
