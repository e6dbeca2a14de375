//! What has to be known of a body before it is its turn: whose form it has, which strategies it
//! names, and how much there is in a session log.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::ServerLimits;
use super::catalog::Catalog;
use super::either::Names;
use super::error::ApiError;
use super::nesting::items_of_text;

/// It is kept while its request waits, so it holds nothing of the body's own size.
#[derive(Debug)]
pub(crate) struct Head {
    /// It names a contract: another host asks its remote strategy.
    pub(crate) is_of_another_host: bool,
    /// Its conversation is to be repaired.
    pub(crate) is_repaired: bool,
    /// The strategies of its chain, in order, by their places in the catalog.
    pub(crate) strategies: Vec<usize>,
    /// It names them; else they are those of who names none.
    pub(crate) has_names: bool,
    /// What there is in its conversation where that is a text, and so mostly the log of a session.
    pub(crate) items_of_text: usize,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Members<'a> {
    contract: Option<IgnoredAny>,
    strategy: Option<Names>,
    repair: bool,
    #[serde(borrow)]
    conversation: Option<&'a RawValue>,
}

/// The head of a body. What else is wrong with the body is told by who reads it all.
///
/// # Errors
/// It names strategies that there are not, or too many, or one of them twice; or its conversation is a text that is
/// too deep.
pub(crate) fn of(body: &str, catalog: &Catalog, limits: &ServerLimits) -> Result<Head, ApiError> {
    let members: Members<'_> = serde_json::from_str(body).unwrap_or_default();
    let is_of_another_host = members.contract.is_some();
    let names = members.strategy.filter(|_| !is_of_another_host);
    let names = match &names {
        None => Vec::new(),
        Some(Names::One(name)) => vec![name.as_str()],
        Some(Names::Several(names)) => names.iter().map(String::as_str).collect(),
    };
    let has_names = !names.is_empty();
    let strategies = if has_names {
        catalog.places(&names, limits.chain)?
    } else {
        catalog.default_places()
    };
    let text = members
        .conversation
        .filter(|json| json.get().starts_with('"'))
        .and_then(|json| serde_json::from_str::<String>(json.get()).ok());
    let items_of_text = match text {
        None => 0,
        Some(text) => {
            items_of_text(&text, limits.nesting).ok_or_else(|| ApiError::too_deep(limits))?
        }
    };
    Ok(Head {
        is_of_another_host,
        is_repaired: members.repair && !is_of_another_host,
        strategies,
        has_names,
        items_of_text,
    })
}

#[cfg(test)]
mod tests {
    use baler_host::Strategy;

    use super::*;

    /// `native:truncate` at 0, which is the chain of who names none, and `native:digest` at 1.
    fn catalog() -> Catalog {
        Catalog::new(vec![Strategy::truncate()], Vec::new())
    }

    fn head(body: &str) -> Result<Head, ApiError> {
        of(body, &catalog(), &ServerLimits::default())
    }

    #[test]
    fn who_names_no_strategy_gets_the_chain_of_all_however_that_is_written() {
        for body in [
            "{}",
            r#"{"strategy":null}"#,
            r#"{"strategy":[]}"#,
            r#"{"contract":"x","strategy":"native:digest"}"#,
            "no JSON",
        ] {
            assert_eq!(head(body).expect("no name").strategies, [0], "{body}");
        }
        let named = head(r#"{"strategy":["native:digest","native:truncate"]}"#);
        assert_eq!(named.expect("they are there").strategies, [1, 0]);
    }

    #[test]
    fn names_that_cannot_be_are_refused_before_the_request_waits() {
        let long = "x".repeat(300);
        for body in [
            r#"{"strategy":"absent"}"#.to_owned(),
            format!(r#"{{"strategy":"{long}"}}"#),
            format!(r#"{{"strategy":["native:digest","{long}"]}}"#),
            r#"{"strategy":["native:digest","native:digest"]}"#.to_owned(),
        ] {
            let error = head(&body).expect_err("it cannot be");
            assert!(!format!("{error:?}").contains("xxx"), "{error:?}");
        }
    }

    #[test]
    fn only_a_client_asks_for_a_repair() {
        let is_repaired = |body: &str| head(body).expect("no name").is_repaired;
        assert!(is_repaired(r#"{"repair":true}"#));
        for body in [
            "{}",
            r#"{"repair":false}"#,
            r#"{"contract":"x","repair":true}"#,
        ] {
            assert!(!is_repaired(body), "{body}");
        }
    }

    #[test]
    fn what_a_log_holds_counts_however_its_text_is_written() {
        let items = |body: &str| head(body).expect("no name").items_of_text;
        assert_eq!(items(r#"{"conversation":"{\"a\":[1,2]}\n{\"b\":3}"}"#), 4);
        assert_eq!(items(r#"{"conversation":"\u007b\u005b\u002c"}"#), 3);
        assert_eq!(items(r#"{"conversation":[{"content":"{[,"}]}"#), 0);
    }
}
