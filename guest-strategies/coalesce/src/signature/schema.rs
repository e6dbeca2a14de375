//! Converts a JSON Schema to types, as far as these can express it.

use super::{Basic, Type};
use crate::value::{Key, Value};

/// Returns the fields of an object's schema, in its order. Names that a signature cannot hold are left out.
pub(super) fn fields(schema: &Value) -> Vec<(String, Type)> {
    let Some(Value::Map(properties)) = schema.get("properties") else {
        return Vec::new();
    };
    let is_required = |name: &str| match schema.get("required") {
        Some(Value::List(names)) => names.iter().any(|found| found.as_text() == Some(name)),
        _ => false,
    };
    properties
        .iter()
        .filter_map(|(key, schema)| match key {
            Key::Keyword(name) => {
                let of = a_type(schema);
                let of = if is_required(name) { of } else { optional(of) };
                Some((name.clone(), of))
            }
            Key::Text(_) => None,
        })
        .collect()
}

fn a_type(schema: &Value) -> Type {
    match schema.get("type") {
        Some(Value::Text(name)) => named(name, schema),
        // One type or null is an optional type.
        Some(Value::List(names)) => {
            let is_null = |name: &&Value| name.as_text() == Some("null");
            let mut named_ones = names.iter().filter(|name| !is_null(name));
            match (
                named_ones.next().and_then(Value::as_text),
                named_ones.next(),
            ) {
                (Some(name), None) if names.len() > 1 => optional(named(name, schema)),
                (Some(name), None) => named(name, schema),
                _ => Type::Basic(Basic::Any),
            }
        }
        _ => Type::Basic(Basic::Any),
    }
}

fn named(name: &str, schema: &Value) -> Type {
    Type::Basic(match name {
        "string" => Basic::String,
        "integer" => Basic::Int,
        "number" => Basic::Float,
        "boolean" => Basic::Bool,
        "array" => {
            let of = schema.get("items").map_or(Type::Basic(Basic::Any), a_type);
            return Type::List(Box::new(of));
        }
        "object" => match fields(schema) {
            fields if fields.is_empty() => Basic::Map,
            fields => return Type::Map(fields),
        },
        _ => Basic::Any,
    })
}

/// Only basic types have an optional form.
fn optional(of: Type) -> Type {
    match of {
        Type::Basic(basic) => Type::Optional(basic),
        of => of,
    }
}
