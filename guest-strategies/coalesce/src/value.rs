//! Values of the embedding program, with the order of their keys.

use std::fmt;

use serde::Deserialize;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};

/// A value of a program. JSON expresses most of them directly, and the others as an object with one of three
/// keys: `{"$keyword": "ok"}`, `{"$set": [1, 2]}`, and `{"$float": "inf"}` with `-inf` and `nan`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    Keyword(String),
    List(Vec<Self>),
    Set(Vec<Self>),
    Map(Vec<(Key, Self)>),
}

/// A key of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Keyword(String),
    Text(String),
}

impl Key {
    /// Returns the key of a JSON object: a keyword if the name is a plain identifier, else a text.
    fn of(name: String) -> Self {
        let mut characters = name.chars();
        let starts = characters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
        let goes_on = |next: char| next.is_ascii_alphanumeric() || matches!(next, '-' | '_');
        match starts && characters.all(goes_on) {
            true => Self::Keyword(name),
            false => Self::Text(name),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Keyword(name) | Self::Text(name) => name,
        }
    }

    /// Returns whether the program hides the key: whether its name starts with `_`.
    pub(crate) fn is_hidden(&self) -> bool {
        self.name().starts_with('_')
    }
}

impl Value {
    /// Returns the name of the value's type; for a collection with its size.
    pub(crate) fn type_name(&self) -> String {
        let name = match self {
            Self::Nil => "nil",
            Self::Bool(_) => "boolean",
            Self::Integer(_) => "integer",
            Self::Float(_) => "float",
            Self::Text(_) => "string",
            Self::Keyword(_) => "keyword",
            Self::List(items) => return format!("list[{}]", items.len()),
            Self::Set(items) => return format!("set[{}]", items.len()),
            Self::Map(entries) => return format!("map[{}]", entries.len()),
        };
        name.to_owned()
    }

    /// Returns whether the value is empty: nil, an empty list or an empty map.
    pub(crate) fn is_nothing(&self) -> bool {
        match self {
            Self::Nil => true,
            Self::List(items) => items.is_empty(),
            Self::Map(entries) => entries.is_empty(),
            _ => false,
        }
    }

    /// Returns the value of a key, if this is a map that has it.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(entries) = self else {
            return None;
        };
        let mut entries = entries.iter();
        entries
            .find(|(key, _)| key.name() == name)
            .map(|(_, value)| value)
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The arguments of a call, as the model wrote them. What is no JSON stays a text.
    pub(crate) fn of_arguments(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Map(Vec::new());
        }
        serde_json::from_str(text).unwrap_or_else(|_| Self::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(Key, Value)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            entries.push((Key::of(name), value));
        }
        Ok(match &mut entries[..] {
            [(name, value)] => tagged(name.name(), value).unwrap_or(Value::Map(entries)),
            _ => Value::Map(entries),
        })
    }
}

/// What JSON has no word for.
fn tagged(tag: &str, value: &mut Value) -> Option<Value> {
    match (tag, value) {
        ("$keyword", Value::Text(name)) => Some(Value::Keyword(std::mem::take(name))),
        ("$set", Value::List(items)) => Some(Value::Set(std::mem::take(items))),
        ("$float", Value::Text(name)) => match name.as_str() {
            "inf" => Some(Value::Float(f64::INFINITY)),
            "-inf" => Some(Value::Float(f64::NEG_INFINITY)),
            "nan" => Some(Value::Float(f64::NAN)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        serde_json::from_str(json).expect("it is JSON")
    }

    /// PT-S22
    #[test]
    fn types_have_names() {
        let names = [
            ("[1,2]", "list[2]"),
            (r#"{"a":1}"#, "map[1]"),
            (r#"{"$set":[1,2,3]}"#, "set[3]"),
            (r#""x""#, "string"),
            ("1", "integer"),
            ("1.0", "float"),
            ("true", "boolean"),
            (r#"{"$keyword":"ok"}"#, "keyword"),
            ("null", "nil"),
        ];
        for (json, name) in names {
            assert_eq!(value(json).type_name(), name);
        }
    }

    /// PT-S26
    #[test]
    fn keys_are_keywords_where_they_are_plain_identifiers() {
        let Value::Map(entries) = value(r#"{"b-1":1,"_a":2,"two words":3,"1st":4,"":5}"#) else {
            panic!("it is a map");
        };
        let keywords: Vec<bool> = entries
            .iter()
            .map(|(key, _)| matches!(key, Key::Keyword(_)))
            .collect();
        assert_eq!(keywords, [true, true, false, false, false]);
    }

    #[test]
    fn an_object_with_another_key_beside_a_tag_is_an_object() {
        assert_eq!(value(r#"{"$set":[],"a":1}"#).type_name(), "map[2]");
        assert_eq!(value(r#"{"$set":1}"#).type_name(), "map[1]");
        assert_eq!(value(r#"{"$float":"many"}"#).type_name(), "map[1]");
    }

    #[test]
    fn arguments_that_are_no_json_stay_a_text() {
        assert_eq!(Value::of_arguments(" "), Value::Map(Vec::new()));
        assert_eq!(
            Value::of_arguments("ls -l"),
            Value::Text("ls -l".to_owned())
        );
    }
}
