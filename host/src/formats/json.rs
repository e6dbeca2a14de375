//! Raw JSON: slices of a document, found without copying or changing a byte of it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A place in the document.
pub(crate) type Place = Range<usize>;

/// Where `slice` lies in `document`. `slice` must have been borrowed from it.
pub(crate) fn place_of(document: &str, slice: &str) -> Place {
    let start = (slice.as_ptr() as usize).saturating_sub(document.as_ptr() as usize);
    start..start + slice.len()
}

/// The members of an object, in order, each value raw. A key that comes twice is an error:
/// readers disagree on which one counts.
pub(crate) struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0
            .iter()
            .find_map(|(name, value)| (name == key).then_some(*value))
    }

    /// The member, if it is there and not null.
    pub(crate) fn present(&self, key: &str) -> Option<&'a RawValue> {
        self.get(key).filter(|value| value.get() != "null")
    }

    /// The member as text, if it is a text.
    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.present(key)
            .filter(|value| is_text(value.get()))
            .map(|value| decode(value.get()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::with_capacity(8);
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    members.push((key.0, map.next_value()?));
                }
                match twice(&members) {
                    Some(key) => Err(A::Error::custom(format_args!("key `{key}` comes twice"))),
                    None => Ok(Members(members)),
                }
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// Up to so many keys are compared with each other, which is quicker than a set of them.
const FEW: usize = 24;

/// A key that comes twice.
fn twice<'m>(members: &'m [(Cow<'_, str>, &RawValue)]) -> Option<&'m str> {
    if members.len() > FEW {
        let mut seen = HashSet::with_capacity(members.len());
        return members
            .iter()
            .map(|(key, _)| key.as_ref())
            .find(|key| !seen.insert(*key));
    }
    members.iter().enumerate().find_map(|(index, (key, _))| {
        members[..index]
            .iter()
            .any(|(other, _)| other == key)
            .then_some(key.as_ref())
    })
}

/// A key, borrowed where it holds no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

pub(crate) fn is_text(raw: &str) -> bool {
    raw.starts_with('"')
}

pub(crate) fn is_list(raw: &str) -> bool {
    raw.starts_with('[')
}

/// The text of a raw JSON string. Half of a surrogate pair, which JSON can spell and Unicode
/// cannot, becomes U+FFFD: only what is read, never what is written back.
pub(crate) fn decode(raw: &str) -> Cow<'_, str> {
    struct Reader;
    impl<'de> Visitor<'de> for Reader {
        type Value = Cow<'de, str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text")
        }

        fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
            Ok(String::from_utf8_lossy(bytes))
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
            Ok(Cow::Owned(String::from_utf8_lossy(bytes).into_owned()))
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(raw);
    deserializer.deserialize_bytes(Reader).unwrap_or_default()
}

/// `text` as a JSON string.
pub(crate) fn encode(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_is_read_as_a_replacement_character() {
        assert_eq!(
            decode(r#""a\ud83db""#)
                .chars()
                .filter(|c| *c == 'b')
                .count(),
            1
        );
        assert!(decode(r#""a\ud83db""#).contains('\u{fffd}'));
    }

    #[test]
    fn what_was_encoded_decodes_to_itself() {
        let text = "línea 1\n\"quoted\" \\ \u{1}\u{7f} 日本語 🦀";
        assert_eq!(decode(&encode(text)), text);
    }

    #[test]
    fn a_key_that_comes_twice_is_an_error() {
        assert!(serde_json::from_str::<Members<'_>>(r#"{"a":1,"\u0061":2}"#).is_err());
        let many: Vec<String> = (0..1_000).map(|key| format!(r#""k{key}":1"#)).collect();
        assert!(serde_json::from_str::<Members<'_>>(&format!("{{{}}}", many.join(","))).is_ok());
        let twice = format!(r#"{{{},"k7":2}}"#, many.join(","));
        assert!(serde_json::from_str::<Members<'_>>(&twice).is_err());
    }
}
