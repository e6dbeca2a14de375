//! What prompts were billed as, and an estimate of what they would have been without baler.

use std::collections::BTreeSet;

use baler_proxy::{Action, Exchange, Usage};

/// Billed input, in fresh tokens: reads from the cache count a tenth, writes 1.25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    pub(super) with: f64,
    pub(super) without: f64,
}

/// Returns the cost of the requests whose usage was reported; `None` if there are none, or only those that went on as they
/// came.
///
/// For a request that went on as it came, both are what the provider reported. For the others the whole request counts, in
/// the provider's tokens: of it, what the largest earlier request that is not larger had comes from the cache, if any of
/// what was sent did, or if only the compaction kept it from that; the rest is fresh, or written if the provider reports
/// writes.
pub(super) fn of(exchanges: &[Exchange]) -> Option<Cost> {
    let reported = || {
        exchanges
            .iter()
            .filter(|exchange| !exchange.shadow && exchange.tokens[1] > 0)
            .filter_map(|exchange| Some((exchange, exchange.usage?)))
    };
    reported().find(|(exchange, _)| is_changed(exchange))?;
    let mut sum = Usage::default();
    reported().for_each(|(_, usage)| sum += usage);
    let counted: u64 = reported()
        .map(|(exchange, _)| u64::from(exchange.tokens[1]))
        .sum();
    // Of what the provider counts one.
    let factor = prompt(&sum) as f64 / counted.max(1) as f64;
    let price = if sum.written > 0 { 1.25 } else { 1.0 };
    let mut known = BTreeSet::new();
    let mut without = 0.0;
    for (exchange, usage) in reported() {
        let came = exchange.tokens[0];
        without += if is_changed(exchange) {
            let is_served = usage.cached > 0 || exchange.action == Action::Compacted;
            let before = known.range(..=came).next_back().filter(|_| is_served);
            let cached = before.copied().unwrap_or(0);
            factor * (f64::from(cached) * 0.1 + f64::from(came - cached) * price)
        } else {
            usage.billed_input()
        };
        known.insert(came);
    }
    Some(Cost {
        with: sum.billed_input(),
        without,
    })
}

fn is_changed(exchange: &Exchange) -> bool {
    exchange.action != Action::Passed
}

/// Returns the tokens of the prompt.
fn prompt(usage: &Usage) -> u64 {
    usage.fresh + usage.cached + usage.written
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exchange(action: &str, tokens: [u32; 2], usage: [u64; 2]) -> Exchange {
        let [fresh, cached] = usage;
        serde_json::from_value(json!({
            "time": 0, "session": "s", "run": null, "program": "p", "upstream": "u", "format": "anthropic", "model": "m",
            "action": action, "why": null, "shadow": false, "again": false, "messages": [1, 1], "tokens": tokens,
            "bytes": [1, 1], "added-us": 0, "status": 200, "receipt": null,
            "usage": {"fresh": fresh, "cached": cached, "written": 0, "output": 0},
        }))
        .expect("an exchange")
    }

    #[test]
    fn without_baler_the_whole_request_is_billed_and_its_beginning_cached() {
        let session = [
            exchange("passed", [1_000, 1_000], [1_000, 0]),
            // The cache is lost, and what is sent is smaller.
            exchange("compacted", [1_200, 400], [400, 0]),
            exchange("shown", [1_300, 500], [100, 400]),
        ];
        let cost = of(&session).expect("a cost");
        assert!(
            (cost.with - (1_000.0 + 400.0 + 140.0)).abs() < 1e-6,
            "{cost:?}"
        );
        let without = 1_000.0 + (100.0 + 200.0) + (120.0 + 100.0);
        assert!((cost.without - without).abs() < 1e-6, "{cost:?}");
    }

    #[test]
    fn a_session_that_baler_did_not_touch_has_no_estimate() {
        assert_eq!(of(&[exchange("passed", [9, 9], [9, 0])]), None);
        assert_eq!(of(&[]), None);
    }
}
