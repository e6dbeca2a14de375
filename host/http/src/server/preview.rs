//! The facts about a body that are needed before its request gets a slot: which protocol it uses,
//! which strategies it names, and how large a session log in it is.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::catalog::Catalog;
use super::error::ApiError;
use super::field_types::StrategyNames;
use super::json_scan::count_text_items;
use crate::limits::ServerLimits;

/// Facts about a body. They are kept while the request waits, so they hold nothing that grows with
/// the body.
#[derive(Debug)]
pub(crate) struct Preview {
    /// The body names a `contract`: another host calls this server as its remote strategy.
    pub(crate) is_strategy_request: bool,
    /// The conversation is to be repaired.
    pub(crate) is_repaired: bool,
    /// The strategies of the chain, in order, by their indices in the catalog.
    pub(crate) strategies: Vec<usize>,
    /// The body names the strategies. Otherwise `strategies` is the default chain.
    pub(crate) names_strategies: bool,
    /// Lists, objects and commas in the conversation if it is a text, which is usually a session log.
    /// Otherwise 0.
    pub(crate) text_items: usize,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Members<'a> {
    contract: Option<IgnoredAny>,
    strategy: Option<StrategyNames>,
    repair: bool,
    #[serde(borrow)]
    conversation: Option<&'a RawValue>,
}

/// Reads these facts. Other errors of the body are reported when all of it is parsed.
///
/// # Errors
/// The body names unknown strategies, too many, or one of them twice; or its conversation is a text
/// that is nested too deeply.
pub(crate) fn read(
    body: &str,
    catalog: &Catalog,
    limits: &ServerLimits,
) -> Result<Preview, ApiError> {
    let members: Members<'_> = serde_json::from_str(body).unwrap_or_default();
    let is_strategy_request = members.contract.is_some();
    let names = members.strategy.filter(|_| !is_strategy_request);
    let names = match &names {
        None => Vec::new(),
        Some(StrategyNames::One(name)) => vec![name.as_str()],
        Some(StrategyNames::Several(names)) => names.iter().map(String::as_str).collect(),
    };
    let names_strategies = !names.is_empty();
    let strategies = if names_strategies {
        catalog.indices(&names, limits.chain)?
    } else {
        catalog.default_indices()
    };
    let text = members
        .conversation
        .filter(|json| json.get().starts_with('"'))
        .and_then(|json| serde_json::from_str::<String>(json.get()).ok());
    let text_items = match text {
        None => 0,
        Some(text) => {
            count_text_items(&text, limits.nesting).ok_or_else(|| ApiError::too_deep(limits))?
        }
    };
    Ok(Preview {
        is_strategy_request,
        is_repaired: members.repair && !is_strategy_request,
        strategies,
        names_strategies,
        text_items,
    })
}

#[cfg(test)]
mod tests {
    use baler_host::Strategy;

    use super::*;

    /// `native:truncate` at index 0, which is the default chain, and `native:digest` at 1.
    fn catalog() -> Catalog {
        Catalog::new(vec![Strategy::truncate()], Vec::new())
    }

    fn preview(body: &str) -> Result<Preview, ApiError> {
        read(body, &catalog(), &ServerLimits::default())
    }

    #[test]
    fn body_without_strategy_names_uses_the_default_chain() {
        for body in [
            "{}",
            r#"{"strategy":null}"#,
            r#"{"strategy":[]}"#,
            r#"{"contract":"x","strategy":"native:digest"}"#,
            "no JSON",
        ] {
            let found = preview(body).expect("names no unknown strategy");
            assert_eq!(found.strategies, [0], "{body}");
        }
        let named = preview(r#"{"strategy":["native:digest","native:truncate"]}"#);
        assert_eq!(named.expect("both exist").strategies, [1, 0]);
    }

    #[test]
    fn preview_rejects_unknown_and_repeated_names_without_quoting_them() {
        let long = "x".repeat(300);
        for body in [
            r#"{"strategy":"absent"}"#.to_owned(),
            format!(r#"{{"strategy":"{long}"}}"#),
            format!(r#"{{"strategy":["native:digest","{long}"]}}"#),
            r#"{"strategy":["native:digest","native:digest"]}"#.to_owned(),
        ] {
            let error = preview(&body).expect_err("is rejected");
            assert!(!format!("{error:?}").contains("xxx"), "{error:?}");
        }
    }

    #[test]
    fn only_a_client_request_can_ask_for_a_repair() {
        let is_repaired = |body: &str| preview(body).expect("a preview").is_repaired;
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
    fn items_of_a_session_log_are_counted_after_unescaping() {
        let items = |body: &str| preview(body).expect("a preview").text_items;
        assert_eq!(items(r#"{"conversation":"{\"a\":[1,2]}\n{\"b\":3}"}"#), 4);
        assert_eq!(items(r#"{"conversation":"\u007b\u005b\u002c"}"#), 3);
        assert_eq!(items(r#"{"conversation":[{"content":"{[,"}]}"#), 0);
    }
}
