//! Gives a small config schema that takes 2^40 steps to check: each definition uses the next one twice.
//!
//! Compiling and checking against a guest's schema is bounded, or the schema is refused.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectSchemaBomb;

impl Hostile for IntrospectSchemaBomb {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        let definitions: Vec<String> = (0..40)
            .map(|n| {
                let next = format!("{{\"$ref\":\"#/$defs/d{}\"}}", n + 1);
                format!("\"d{n}\":{{\"allOf\":[{next},{next}]}}")
            })
            .collect();
        let schema = format!(
            "{{\"$ref\":\"#/$defs/d0\",\"$defs\":{{{},\"d40\":true}}}}",
            definitions.join(",")
        );
        Ok(Introspection {
            config_schema: schema,
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectSchemaBomb);
