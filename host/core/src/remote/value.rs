//! The value of a metric in JSON. A visitor reads it: serde's `untagged` would first buffer any value, which
//! takes many times the memory of a remote's whole answer.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

use crate::report::MetricValue;

impl<'de> Deserialize<'de> for MetricValue {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = MetricValue;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a number, true, false or a text")
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<MetricValue, E> {
                Ok(MetricValue::Flag(flag))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<MetricValue, E> {
                Ok(u32::try_from(number)
                    .map_or(MetricValue::Ratio(number as f64), MetricValue::Count))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<MetricValue, E> {
                Ok(MetricValue::Ratio(number as f64))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<MetricValue, E> {
                Ok(MetricValue::Ratio(number))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<MetricValue, E> {
                Ok(MetricValue::Text(text.to_owned()))
            }
        }
        json.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use crate::report::MetricValue;

    #[test]
    fn reads_each_kind_of_value() {
        let value = |json: &str| serde_json::from_str::<MetricValue>(json).expect(json);
        assert_eq!(value("7"), MetricValue::Count(7));
        assert_eq!(value("4294967296"), MetricValue::Ratio(4_294_967_296.0));
        assert_eq!(value("-3"), MetricValue::Ratio(-3.0));
        assert_eq!(value("7.0"), MetricValue::Ratio(7.0));
        assert_eq!(value("true"), MetricValue::Flag(true));
        assert_eq!(
            value(r#""by \"tram\"""#),
            MetricValue::Text("by \"tram\"".to_owned())
        );
        assert!(serde_json::from_str::<MetricValue>("null").is_err());
    }

    #[test]
    fn lists_and_objects_are_refused_without_reading_them() {
        for json in ["[[1], no JSON", r#"{"a": no JSON"#] {
            let error = serde_json::from_str::<MetricValue>(json).expect_err(json);
            assert!(error.is_data(), "the content was read: {error}");
        }
    }
}
