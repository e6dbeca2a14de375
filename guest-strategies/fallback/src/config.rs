//! The config: that of each strategy in a member, `{"first": {…}, "otherwise": {…}}`.

use baler_strategy::Failure;
use serde_json::{Map, Value};

pub(crate) const FIRST: &str = "first";
pub(crate) const OTHERWISE: &str = "otherwise";

/// The configs of both strategies; empty texts if there are none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Configs {
    pub(crate) first: String,
    pub(crate) otherwise: String,
}

impl Configs {
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let bad = |error: serde_json::Error| Failure::BadConfig(error.to_string());
        let mut members: Map<String, Value> = serde_json::from_str(text).map_err(bad)?;
        let mut take = |name| {
            members
                .remove(name)
                .map_or_else(String::new, |own| own.to_string())
        };
        let (first, otherwise) = (take(FIRST), take(OTHERWISE));
        match members.keys().next() {
            Some(name) => Err(Failure::BadConfig(format!(
                "unknown member `{name}`, expected `{FIRST}` or `{OTHERWISE}`"
            ))),
            None => Ok(Self { first, otherwise }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_strategy_gets_its_own_member() {
        let read = Configs::read(r#"{"otherwise": {"keep": 3}}"#).expect("is read");
        assert_eq!(
            (read.first.as_str(), read.otherwise.as_str()),
            ("", r#"{"keep":3}"#)
        );
        assert_eq!(Configs::read(" ").expect("is read"), Configs::default());
        assert!(Configs::read("[5]").is_err());
        assert_eq!(
            Configs::read(r#"{"keep": 3}"#),
            Err(Failure::BadConfig(
                "unknown member `keep`, expected `first` or `otherwise`".to_owned()
            ))
        );
    }
}
