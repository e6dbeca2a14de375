//! Types of request members that may be written in more than one form. Which one it is, the first byte says: serde's
//! `untagged` would first buffer the whole value, in many times the memory of its text.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The largest number of names in a list. Names are kept while a request waits.
const MAX_NAMES: usize = 256;

/// Bytes of the longest name. No strategy has a longer one.
const MAX_NAME_BYTES: usize = 256;

/// One strategy name, or a list of names. A name that is too long is read as the empty name, which no
/// strategy has.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum StrategyNames {
    /// One name.
    One(String),
    /// Several names, in the order of the chain.
    Several(Vec<String>),
}

/// A budget: a number of tokens, or a share.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum BudgetValue {
    /// A number of tokens.
    Tokens(u32),
    /// A share, such as `"50%"`.
    Share(String),
}

/// The units that are pinned.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum PinsValue {
    /// `first-user` or `none`.
    Named(NamedPins),
    /// Indices of units, from 0.
    Units(Vec<usize>),
}

/// The pinned units, by a name.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NamedPins {
    /// The first user message.
    FirstUser,
    /// No unit is pinned.
    None,
}

impl<'de> Deserialize<'de> for StrategyNames {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = StrategyNames;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(to, "a name, or a list of at most {MAX_NAMES} names")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<StrategyNames, E> {
                Ok(StrategyNames::One(bounded(name)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<StrategyNames, A::Error> {
                let mut names = Vec::new();
                while let Some(Name(name)) = list.next_element()? {
                    if names.len() == MAX_NAMES {
                        return Err(Error::invalid_length(MAX_NAMES + 1, &self));
                    }
                    names.push(name);
                }
                Ok(StrategyNames::Several(names))
            }
        }
        json.deserialize_any(Reader)
    }
}

/// A name in a list.
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

/// Returns the name, or an empty one if it is too long.
fn bounded(name: &str) -> String {
    if name.len() > MAX_NAME_BYTES {
        return String::new();
    }
    name.to_owned()
}

impl<'de> Deserialize<'de> for BudgetValue {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(json)?;
        match is_text(json) {
            true => read(json).map(Self::Share),
            false => read(json).map(Self::Tokens),
        }
    }
}

impl<'de> Deserialize<'de> for PinsValue {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(json)?;
        match is_text(json) {
            true => read(json).map(Self::Named),
            false => read(json).map(Self::Units),
        }
    }
}

fn is_text(json: &RawValue) -> bool {
    json.get().starts_with('"')
}

fn read<T: DeserializeOwned, E: Error>(json: &RawValue) -> Result<T, E> {
    serde_json::from_str(json.get()).map_err(E::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_names_is_read_up_to_the_maximum() {
        let names = |count: usize| {
            let json = format!("[{}]", vec![r#""a""#; count].join(","));
            serde_json::from_str::<StrategyNames>(&json)
        };
        let read = names(MAX_NAMES).expect("not too many");
        assert!(matches!(read, StrategyNames::Several(read) if read.len() == MAX_NAMES));
        assert!(names(MAX_NAMES + 1).is_err());
        // The rest of the list is not read: it would be kept while the request waits.
        let endless = format!("[{}", r#""a","#.repeat(MAX_NAMES + 1));
        let error = serde_json::from_str::<StrategyNames>(&endless).expect_err("too many");
        assert!(error.is_data(), "{error}");
    }

    #[test]
    fn name_that_is_too_long_is_read_as_the_empty_name() {
        let (most, more) = ("x".repeat(MAX_NAME_BYTES), "x".repeat(MAX_NAME_BYTES + 1));
        let json = format!(r#"["{most}","{more}"]"#);
        let names = serde_json::from_str::<StrategyNames>(&json).expect("names");
        let StrategyNames::Several(names) = names else {
            unreachable!("a list");
        };
        assert_eq!(names, [most, String::new()]);
        let names = serde_json::from_str::<StrategyNames>(&format!(r#""{more}""#)).expect("a name");
        assert!(matches!(names, StrategyNames::One(name) if name.is_empty()));
    }

    #[test]
    fn budgets_and_pins_accept_their_forms_only() {
        let size = serde_json::from_str::<BudgetValue>;
        assert!(matches!(size("7").expect("tokens"), BudgetValue::Tokens(7)));
        assert!(matches!(
            size(r#""7%""#).expect("a share"),
            BudgetValue::Share(_)
        ));
        for wrong in ["-1", "1.0", "4294967296", "[]", "{}", "true", "null"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        let pinned = serde_json::from_str::<PinsValue>;
        for (json, is_named) in [
            (r#""none""#, true),
            (r#""first-user""#, true),
            ("[0,7]", false),
        ] {
            let read = pinned(json).expect("one of the forms");
            assert_eq!(matches!(read, PinsValue::Named(_)), is_named, "{json}");
        }
        for wrong in [r#""all""#, "[-1]", r#"["a"]"#, "7", "{}", "null"] {
            assert!(pinned(wrong).is_err(), "{wrong}");
        }
    }
}
