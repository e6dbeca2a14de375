//! Bounded lists and texts of an untrusted file: no more of them is kept than a page can show, however much
//! the file has. Errors name the list that has too many entries.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use anyhow::anyhow;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The most characters that are kept of a text. A page shows fewer.
const LENGTH: usize = 1_000;

/// A text, cut to `LENGTH` characters.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Text(String);

impl Text {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn of(text: &str) -> Self {
        let end = text.char_indices().nth(LENGTH);
        Self(text[..end.map_or(text.len(), |(end, _)| end)].to_owned())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Shortened;

        impl Visitor<'_> for Shortened {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text::of(text))
            }
        }

        deserializer.deserialize_str(Shortened)
    }
}

/// A list. Its first `MOST` entries are kept, the others are only counted.
#[derive(Debug)]
pub(crate) struct List<T, const MOST: usize> {
    kept: Vec<T>,
    entries: usize,
}

impl<T, const MOST: usize> List<T, MOST> {
    /// Fails if the file has more than `MOST` entries.
    pub(crate) fn check(&self, name: &str) -> anyhow::Result<()> {
        check(name, self.entries, MOST)
    }
}

impl<T, const MOST: usize> Default for List<T, MOST> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            entries: 0,
        }
    }
}

impl<T, const MOST: usize> Deref for List<T, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.kept
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for List<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T, const MOST: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Entries<T, MOST> {
            type Value = List<T, MOST>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut kept = Vec::new();
                while kept.len() < MOST {
                    match list.next_element()? {
                        Some(entry) => kept.push(entry),
                        None => break,
                    }
                }
                let mut entries = kept.len();
                // More entries can follow only if the list is full.
                while entries >= MOST && list.next_element::<IgnoredAny>()?.is_some() {
                    entries += 1;
                }
                Ok(List { kept, entries })
            }
        }

        deserializer.deserialize_seq(Entries(PhantomData))
    }
}

/// An object. Its first `MOST` members are kept by name, the others are only counted.
#[derive(Debug)]
pub(crate) struct Members<T, const MOST: usize> {
    kept: BTreeMap<Text, T>,
    entries: usize,
}

impl<T, const MOST: usize> Members<T, MOST> {
    /// Fails if the file has more than `MOST` members.
    pub(crate) fn check(&self, name: &str) -> anyhow::Result<()> {
        check(name, self.entries, MOST)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        let found = self.kept.iter().find(|(own, _)| own.as_str() == name);
        found.map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.kept.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

impl<T, const MOST: usize> Default for Members<T, MOST> {
    fn default() -> Self {
        Self {
            kept: BTreeMap::new(),
            entries: 0,
        }
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Members<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<T, const MOST: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Object<T, MOST> {
            type Value = Members<T, MOST>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut kept = BTreeMap::new();
                let mut entries = 0;
                while entries < MOST {
                    match map.next_entry()? {
                        Some((name, value)) => kept.insert(name, value),
                        None => break,
                    };
                    entries += 1;
                }
                while entries >= MOST && map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    entries += 1;
                }
                Ok(Members { kept, entries })
            }
        }

        deserializer.deserialize_map(Object(PhantomData))
    }
}

/// A value that is used only if it is a number, a flag or a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar {
    Flag(bool),
    Whole(u64),
    Number(f64),
    Text(Text),
    /// Null, a list or an object, which are skipped.
    Other,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Scalar, E> {
                Ok(Scalar::Flag(flag))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Scalar, E> {
                Ok(Scalar::Whole(number))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar::Number(number as f64))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Scalar, E> {
                Ok(Scalar::Number(number))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(Text::of(text)))
            }

            fn visit_unit<E: Error>(self) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scalar, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }
        }

        deserializer.deserialize_any(Any)
    }
}

fn check(name: &str, entries: usize, most: usize) -> anyhow::Result<()> {
    if entries <= most {
        return Ok(());
    }
    Err(anyhow!(
        "expected no more than {} entries in `{name}`, found: {}",
        crate::figures::number(most as u64),
        crate::figures::number(entries as u64)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_keeps_its_maximum_and_counts_the_rest() {
        let read = |text: &str| serde_json::from_str::<List<u32, 3>>(text).expect("a list");
        let whole = read("[1, 2, 3]");
        assert_eq!(*whole, [1, 2, 3]);
        assert!(whole.check("it").is_ok());
        let long = read("[1, 2, 3, \"4\", {}]");
        assert_eq!(*long, [1, 2, 3]);
        assert_eq!(
            long.check("it").expect_err("too long").to_string(),
            "expected no more than 3 entries in `it`, found: 5"
        );
        assert!(serde_json::from_str::<List<u32, 3>>("[1, \"2\"]").is_err());
    }

    #[test]
    fn members_keep_their_maximum() {
        let read = |text: &str| serde_json::from_str::<Members<u32, 2>>(text).expect("an object");
        let whole = read(r#"{"a": 1, "b": 2}"#);
        assert!(whole.check("it").is_ok());
        assert_eq!(whole.get("b"), Some(&2));
        let long = read(r#"{"a": 1, "b": 2, "c": []}"#);
        assert_eq!(long.iter().count(), 2);
        assert!(long.check("it").is_err());
    }

    #[test]
    fn text_is_cut_between_characters() {
        let read: Text =
            serde_json::from_str(&format!("\"{}\"", "é".repeat(5_000))).expect("a text");
        assert_eq!(read.chars().count(), LENGTH);
    }
}
