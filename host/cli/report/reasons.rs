//! What the reason codes of the strategies that ship with baler mean. Other strategies' codes are only names.

/// A code, and what it says of a unit.
const MEANINGS: [(&str, &str); 22] = [
    ("aside", "kept in addition to the window"),
    ("anchor", "an older message of the user, kept word for word"),
    (
        "batch",
        "the newest calls with their outputs, as what follows them does not fit",
    ),
    (
        "coalesced",
        "rendered as part of one text that stands with the task",
    ),
    ("cut", "its outputs are shortened to errors and names"),
    (
        "digested",
        "replaced by the summary, which is made from its words",
    ),
    (
        "earlier",
        "an earlier summary, which the new one carries on",
    ),
    ("initial", "the first message"),
    ("kept", "in the newest part, kept"),
    (
        "masked",
        "its outputs are replaced by a line that says what was there",
    ),
    ("parts-removed", "some of its parts are removed"),
    ("preserved", "in the newest part, kept"),
    ("protected", "must not be removed"),
    ("recent", "in the newest part, kept"),
    ("removed", "removed, as the budget required"),
    ("repeated", "what it says stands again below"),
    ("shortened", "kept, with its long outputs shortened"),
    ("summarized", "replaced by a model's summary"),
    ("summary", "an earlier summary, kept"),
    (
        "superseded",
        "its call was made again below, or its file was read again",
    ),
    ("task", "the task"),
    ("window", "in the window of the newest units, kept"),
];

/// Returns what a code of a strategy means; `None` if the strategy does not ship with baler.
pub(crate) fn meaning(strategy: Option<&str>, code: &str) -> Option<&'static str> {
    let strategy = strategy?;
    let is_own = strategy.starts_with("native:") || baler_strategies::by_name(strategy).is_some();
    let mut known = MEANINGS.iter();
    known
        .find(|(own, _)| is_own && *own == code)
        .map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_code_of_a_strategy_that_ships_has_a_meaning() {
        let host = baler_host::Host::builder()
            .without_archive()
            .build()
            .expect("a host");
        for bundled in baler_strategies::ALL {
            let strategy = host.load(bundled.name, bundled.wasm).await.expect("loads");
            let declared = host.introspect(&strategy, None).await.expect("declares");
            for code in declared.reason_codes {
                assert!(
                    meaning(Some(bundled.name), &code).is_some(),
                    "{}: {code}",
                    bundled.name
                );
            }
        }
        assert_eq!(meaning(Some("foreign"), "removed"), None);
        assert_eq!(meaning(None, "removed"), None);
    }
}
