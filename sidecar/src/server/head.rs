//! What has to be known of a body before it is its turn: whose form it has, and which strategies
//! it names.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::either::Names;

#[derive(Debug, Default)]
pub(crate) struct Head {
    /// It names a contract: another host asks its remote strategy.
    pub(crate) is_of_another_host: bool,
    /// The strategies that it names; none where it names none.
    pub(crate) strategies: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Members {
    contract: Option<IgnoredAny>,
    strategy: Option<Names>,
}

/// The head of a body. What is wrong with the body is told by who reads it all.
pub(crate) fn of(body: &str) -> Head {
    let Ok(members) = serde_json::from_str::<Members>(body) else {
        return Head::default();
    };
    let is_of_another_host = members.contract.is_some();
    let strategies = members.strategy.filter(|_| !is_of_another_host);
    Head {
        is_of_another_host,
        strategies: strategies.map(|names| match names {
            Names::One(name) => vec![name],
            Names::Several(names) => names,
        }),
    }
}
