//! Gives a config schema whose pattern takes exponential time in a matcher that goes back.
//!
//! Checking a config against it is bounded, or the schema is refused.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectSchemaSlowPattern;

impl Hostile for IntrospectSchemaSlowPattern {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            config_schema: concat!(
                "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",",
                "\"pattern\":\"^(?=(a+)+$)(a|a|aa)*\\\\1b$\"}}}",
            )
            .to_owned(),
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectSchemaSlowPattern);
