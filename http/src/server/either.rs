//! Members that have more than one form. They are read one value after the other: serde's
//! `untagged` would first keep the whole value, which takes many times the memory of its text.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::StrDeserializer;
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// The most names that are read. They are kept while a request waits.
const MOST_NAMES: usize = 256;

/// The most bytes of a name. No strategy has one that is longer.
const MOST_BYTES: usize = 256;

/// One name or several. One that is too long is read as the empty one, which no strategy has.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Names {
    /// One.
    One(String),
    /// Several, in order.
    Several(Vec<String>),
}

/// A size: tokens, or a share.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Size {
    /// Tokens.
    Tokens(u32),
    /// A share, such as `"50%"`.
    Share(String),
}

/// What stays.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Pinned {
    /// `first-user` or `none`.
    Named(PinnedName),
    /// Numbers of units, from 0.
    Units(Vec<usize>),
}

/// What stays, by a name.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PinnedName {
    /// The first message of the user's.
    FirstUser,
    /// Nothing beside what always stays.
    None,
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Names;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(to, "a name, or a list of at most {MOST_NAMES} names")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Names, E> {
                Ok(Names::One(bounded(name)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(Name(name)) = list.next_element()? {
                    if names.len() == MOST_NAMES {
                        return Err(Error::invalid_length(MOST_NAMES + 1, &self));
                    }
                    names.push(name);
                }
                Ok(Names::Several(names))
            }
        }
        json.deserialize_any(Reader)
    }
}

/// A name of a list.
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Name;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a name")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
                Ok(Name(bounded(name)))
            }
        }
        json.deserialize_str(Reader)
    }
}

fn bounded(name: &str) -> String {
    if name.len() > MOST_BYTES {
        return String::new();
    }
    name.to_owned()
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Size;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a number of tokens, or a share")
            }

            fn visit_u64<E: Error>(self, tokens: u64) -> Result<Size, E> {
                u32::try_from(tokens)
                    .map(Size::Tokens)
                    .map_err(|_| E::invalid_value(Unexpected::Unsigned(tokens), &self))
            }

            fn visit_str<E: Error>(self, share: &str) -> Result<Size, E> {
                Ok(Size::Share(share.to_owned()))
            }
        }
        json.deserialize_any(Reader)
    }
}

impl<'de> Deserialize<'de> for Pinned {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Pinned;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("`first-user`, `none`, or a list of units")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Pinned, E> {
                PinnedName::deserialize(StrDeserializer::new(name)).map(Pinned::Named)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Pinned, A::Error> {
                let mut units = Vec::new();
                while let Some(unit) = list.next_element()? {
                    units.push(unit);
                }
                Ok(Pinned::Units(units))
            }
        }
        json.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_names_is_read_up_to_the_most() {
        let names = |count: usize| {
            let json = format!("[{}]", vec![r#""a""#; count].join(","));
            serde_json::from_str::<Names>(&json)
        };
        let read = names(MOST_NAMES).expect("they are not too many");
        assert!(matches!(read, Names::Several(read) if read.len() == MOST_NAMES));
        assert!(names(MOST_NAMES + 1).is_err());
        // What follows is not read: it would be kept for as long as the request waits.
        let endless = format!("[{}", r#""a","#.repeat(MOST_NAMES + 1));
        let error = serde_json::from_str::<Names>(&endless).expect_err("they are too many");
        assert!(error.is_data(), "{error}");
    }

    #[test]
    fn a_name_that_is_too_long_is_not_kept() {
        let (most, more) = ("x".repeat(MOST_BYTES), "x".repeat(MOST_BYTES + 1));
        let json = format!(r#"["{most}","{more}"]"#);
        let names = serde_json::from_str::<Names>(&json).expect("names");
        let Names::Several(names) = names else {
            unreachable!("it is a list");
        };
        assert_eq!(names, [most, String::new()]);
        let names = serde_json::from_str::<Names>(&format!(r#""{more}""#)).expect("a name");
        assert!(matches!(names, Names::One(name) if name.is_empty()));
    }

    #[test]
    fn each_form_is_read_and_no_other() {
        let size = serde_json::from_str::<Size>;
        assert!(matches!(size("7").expect("tokens"), Size::Tokens(7)));
        assert!(matches!(size(r#""7%""#).expect("a share"), Size::Share(_)));
        for wrong in ["-1", "1.0", "4294967296", "[]", "{}", "true", "null"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        let pinned = serde_json::from_str::<Pinned>;
        for (json, is_named) in [
            (r#""none""#, true),
            (r#""first-user""#, true),
            ("[0,7]", false),
        ] {
            let read = pinned(json).expect("it is one of the forms");
            assert_eq!(matches!(read, Pinned::Named(_)), is_named, "{json}");
        }
        for wrong in [r#""all""#, "[-1]", r#"["a"]"#, "7", "{}", "null"] {
            assert!(pinned(wrong).is_err(), "{wrong}");
        }
    }
}
