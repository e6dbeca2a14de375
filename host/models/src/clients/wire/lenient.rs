//! Reads JSON that may have any shape, without building it in memory.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::value::RawValue;

/// Reads a `T`; `None` if the value is missing or has another shape.
pub(super) fn read<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Reads a count of tokens, which is a whole number.
pub(super) fn count(raw: Option<&RawValue>) -> Option<u64> {
    read(raw)
}

/// Calls `act` with each element of a list. Returns false if the value is not a list.
pub(super) fn each<'a>(raw: Option<&'a RawValue>, mut act: impl FnMut(&'a RawValue)) -> bool {
    struct Elements<F>(F);

    impl<'a, F: FnMut(&'a RawValue)> Visitor<'a> for Elements<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'a>>(mut self, mut list: A) -> Result<(), A::Error> {
            while let Some(element) = list.next_element::<&'a RawValue>()? {
                (self.0)(element);
            }
            Ok(())
        }
    }

    raw.is_some_and(|raw| {
        Deserializer::from_str(raw.get())
            .deserialize_seq(Elements(&mut act))
            .is_ok()
    })
}

/// Returns the first element of a list.
pub(super) fn first(raw: Option<&RawValue>) -> Option<&RawValue> {
    let mut first = None;
    each(raw, |element| {
        first.get_or_insert(element);
    });
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn count_reads_whole_numbers_only() {
        for (text, number) in [
            ("7", Some(7)),
            ("-1", None),
            ("1.5", None),
            ("\"7\"", None),
            ("[7]", None),
        ] {
            assert_eq!(count(Some(&raw(text))), number, "{text}");
        }
    }

    #[test]
    fn each_reads_lists_only() {
        let list = raw("[1,{\"a\":[]},null]");
        let mut seen = Vec::new();
        assert!(each(Some(&list), |element| seen.push(element.get())));
        assert_eq!(seen, ["1", "{\"a\":[]}", "null"]);
        assert_eq!(first(Some(&list)).map(RawValue::get), Some("1"));
        for other in ["{}", "null", "\"[1]\""] {
            assert!(!each(Some(&raw(other)), |_| ()), "{other}");
        }
    }
}
