//! Looks for a conversation while it is only asked what it is.
//!
//! There is none: every list is empty. If it finds anything, it fails.

use hostile_guests::{
    Failure, Hostile, Introspection, history, hostile, polite_introspection, tokenizer,
};

struct ReadInIntrospect;

impl Hostile for ReadInIntrospect {
    fn introspect(_: Option<String>) -> Result<Introspection, Failure> {
        let sees_nothing = history::units().is_empty()
            && history::read(0, u32::MAX).is_empty()
            && history::reference(0).is_none()
            && history::tools().is_empty()
            && tokenizer::count("some words") == 0;
        if sees_nothing {
            Ok(polite_introspection())
        } else {
            Err(Failure::Other("there is a conversation".to_owned()))
        }
    }
}

hostile!(ReadInIntrospect);
