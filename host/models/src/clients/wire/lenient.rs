//! Reads JSON that may have any shape, without building it in memory.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::value::RawValue;

/// A value that may have any shape, or be missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lenient<'a>(Option<&'a RawValue>);

impl<'a> Lenient<'a> {
    pub(super) fn parse(json: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json).map(|raw| Self(Some(raw)))
    }

    pub(super) const fn is_there(self) -> bool {
        self.0.is_some()
    }

    /// Returns the value if it is an object.
    pub(super) fn object(self) -> Option<Self> {
        let raw = self.0.filter(|raw| raw.get().starts_with('{'))?;
        Some(Self(Some(raw)))
    }

    /// Reads a `T`; `None` if the value is missing or has another shape.
    pub(super) fn read<T: Deserialize<'a>>(self) -> Option<T> {
        serde_json::from_str(self.0?.get()).ok()
    }

    pub(super) fn text(self) -> Option<String> {
        self.read()
    }

    /// Reads a count of tokens, which is a whole number.
    pub(super) fn count(self) -> Option<u64> {
        self.read()
    }

    /// Returns a member of an object. `null` counts as missing.
    pub(super) fn get(self, name: &str) -> Self {
        let mut found = None;
        self.walk(b'{', |own, value| {
            if own == name {
                found = (value.get() != "null").then_some(value);
            }
        });
        Self(found)
    }

    /// Calls `act` with each element of a list. Returns false if the value is not a list.
    pub(super) fn each(self, mut act: impl FnMut(Self)) -> bool {
        self.walk(b'[', |_, element| act(Self(Some(element))))
    }

    /// Returns the first element of a list.
    pub(super) fn first(self) -> Self {
        let mut first = None;
        self.walk(b'[', |_, element| {
            first.get_or_insert(element);
        });
        Self(first)
    }

    /// Calls `act` with each member of an object, or each element of a list, which has no name. Returns false if the
    /// value does not begin with `opening`.
    fn walk(self, opening: u8, act: impl FnMut(&str, &'a RawValue)) -> bool {
        self.0.is_some_and(|raw| {
            raw.get().as_bytes().first() == Some(&opening)
                && Deserializer::from_str(raw.get())
                    .deserialize_any(Walk(act))
                    .is_ok()
        })
    }
}

struct Walk<F>(F);

impl<'a, F: FnMut(&str, &'a RawValue)> Visitor<'a> for Walk<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'a>>(mut self, mut members: A) -> Result<(), A::Error> {
        while let Some((name, value)) = members.next_entry::<String, &'a RawValue>()? {
            (self.0)(&name, value);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<&'a RawValue>()? {
            (self.0)("", element);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Lenient<'_> {
        Lenient::parse(text.as_bytes()).unwrap()
    }

    fn shown(value: Lenient<'_>) -> Option<&str> {
        value.0.map(RawValue::get)
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
            assert_eq!(parsed(text).count(), number, "{text}");
        }
    }

    #[test]
    fn each_reads_lists_only() {
        let list = parsed("[1,{\"a\":[]},null]");
        let mut seen: Vec<&str> = Vec::new();
        assert!(list.each(|element| seen.extend(shown(element))));
        assert_eq!(seen, ["1", "{\"a\":[]}", "null"]);
        assert_eq!(shown(list.first()), Some("1"));
        for other in ["{}", "null", "\"[1]\""] {
            assert!(!parsed(other).each(|_| ()), "{other}");
        }
    }

    #[test]
    fn get_reads_members_of_objects_only() {
        let object = parsed(" {\"a\": [1], \"b\": null} ");
        assert_eq!(shown(object.get("a")), Some("[1]"));
        for other in [object.get("b"), object.get("c"), parsed("[\"a\"]").get("")] {
            assert!(!other.is_there(), "{other:?}");
        }
    }
}
