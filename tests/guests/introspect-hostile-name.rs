//! Calls itself by a path, an escape sequence and the name of a native strategy.
//!
//! A name is no path and no authority: it is refused or shown without control characters.

use hostile_guests::{Failure, Hostile, Introspection, hostile, polite_introspection};

struct IntrospectHostileName;

impl Hostile for IntrospectHostileName {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        Ok(Introspection {
            name: "../../../etc/passwd\0\u{1b}[2J\nnative:digest".to_owned(),
            version: "latest; rm -rf /".to_owned(),
            description: "\u{202e}\r\u{1b}]0;owned\u{7}".repeat(1000),
            reason_codes: vec![
                "old".to_owned(),
                "old".to_owned(),
                String::new(),
                "\n".to_owned(),
            ],
            ..polite_introspection()
        })
    }
}

hostile!(IntrospectHostileName);
