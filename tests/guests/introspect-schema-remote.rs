//! Gives a config schema that refers to files and addresses elsewhere.
//!
//! The host fetches nothing and opens nothing for a guest: the schema is refused.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectSchemaRemote;

impl Hostile for IntrospectSchemaRemote {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            config_schema: concat!(
                "{\"allOf\":[",
                "{\"$ref\":\"http://127.0.0.1:9/schema.json\"},",
                "{\"$ref\":\"file:///etc/hostname\"},",
                "{\"$ref\":\"https://schema.invalid/x\"}",
                "]}",
            )
            .to_owned(),
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectSchemaRemote);
