//! The value of a metric in JSON. A visitor reads it: serde's `untagged` would first buffer any value, which
//! takes many times the memory of a remote's whole answer.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The value of a metric.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Value {
    /// A count.
    Count(u32),
    /// A share, or another number.
    Ratio(f64),
    /// A boolean.
    Flag(bool),
    /// A text.
    Text(String),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Value;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a number, true, false or a text")
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
                Ok(Value::Flag(flag))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
                Ok(u32::try_from(number).map_or(Value::Ratio(number as f64), Value::Count))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Ratio(number as f64))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
                Ok(Value::Ratio(number))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
        }
        json.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn reads_each_kind_of_value() {
        let value = |json: &str| serde_json::from_str::<Value>(json).expect(json);
        assert_eq!(value("7"), Value::Count(7));
        assert_eq!(value("4294967296"), Value::Ratio(4_294_967_296.0));
        assert_eq!(value("-3"), Value::Ratio(-3.0));
        assert_eq!(value("7.0"), Value::Ratio(7.0));
        assert_eq!(value("true"), Value::Flag(true));
        assert_eq!(
            value(r#""by \"tram\"""#),
            Value::Text("by \"tram\"".to_owned())
        );
        assert!(serde_json::from_str::<Value>("null").is_err());
    }

    #[test]
    fn lists_and_objects_are_refused_without_reading_them() {
        for json in ["[[1], no JSON", r#"{"a": no JSON"#] {
            let error = serde_json::from_str::<Value>(json).expect_err(json);
            assert!(error.is_data(), "the content was read: {error}");
        }
    }
}
