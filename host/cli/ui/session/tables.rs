//! The tables of a session's page.

use std::collections::BTreeMap;
use std::time::Duration;

use baler_proxy::Exchange;
use maud::{Markup, html};

use crate::figures::{count, number, status, time};
use crate::report::words::{Untrusted, share};
use crate::ui::page::scroll;
use crate::ui::{record, when};

/// The most rows of a table, the newest.
const ROWS: usize = 500;

/// Returns the table of compactions.
pub(super) fn compactions(name: &str, exchanges: &[Exchange]) -> Markup {
    let many = record::compactions(exchanges).count();
    html! {
        h2 { "Compactions" }
        @if many == 0 {
            p class="muted" { "None so far." }
        } @else {
            (scroll("Compactions", html! {
                table {
                    caption class="hidden" { "Compactions, the newest first" }
                    thead { tr {
                        th scope="col" { "compaction" } th scope="col" { "when, UTC" } th scope="col" { "by" } th scope="col" { "why" }
                        th scope="col" class="number" { "before" } th scope="col" class="number" { "after" } th scope="col" class="number" { "" }
                        th scope="col" class="number" { "removed" } th scope="col" class="number" { "rewritten" } th scope="col" class="number" { "took" }
                    } }
                    tbody { @for (place, exchange) in record::compactions(exchanges).collect::<Vec<_>>().into_iter().rev().take(ROWS) { (compaction(name, place, exchange)) } }
                }
            }))
            @if many > ROWS { p class="muted" { "The newest " (ROWS) " are shown." } }
        }
    }
}

fn compaction(name: &str, place: usize, exchange: &Exchange) -> Markup {
    let nothing = serde_json::Value::Null;
    let receipt = exchange.receipt.as_ref().unwrap_or(&nothing);
    let units = |what: &str| {
        receipt["units"][what]
            .as_u64()
            .map_or_else(|| "–".to_owned(), number)
    };
    let [before, after] =
        ["before", "after"].map(|when| receipt["tokens"][when].as_u64().unwrap_or(0));
    html! {
        tr {
            th scope="row" class="nowrap" { a href={ "/ui/sessions/" (name) "/compactions/" (place) } { "Compaction " (place) } }
            td class="nowrap" { (when::clock(exchange.time)) }
            td { (Untrusted(receipt["strategy"].as_str().unwrap_or("–"))) @if receipt["fell-back"] == true { " " span class="badge changed" { "fallback" } } }
            td class="nowrap" { (trigger(receipt["trigger"].as_str().unwrap_or_default())) }
            td class="number" { (number(before)) }
            td class="number" { (number(after)) }
            td class="number muted" { (share(after as f64, before as f64)) }
            td class="number" { (units("removed")) }
            td class="number" { (units("rewritten")) }
            td class="number" { (time(Duration::from_micros(receipt["time-us"].as_u64().unwrap_or(exchange.added_us)))) }
        }
    }
}

fn trigger(name: &str) -> &str {
    match name {
        "threshold" => "the request was due",
        "overflow" => "the provider refused it as too long",
        "manual" => "asked for",
        _ => "–",
    }
}

/// What the reasons mean for which a request went on as it came, or as it was shown before, although it was due.
const REASONS: [(&str, &str); 17] = [
    (
        "at-floor",
        "everything in it must stay: system prompt, tools, the task, your newest words, outputs not seen yet",
    ),
    (
        "no-progress",
        "no strategy made it smaller within its limits",
    ),
    ("strategy-declined", "the strategy declined"),
    (
        "strategy-failed",
        "the strategy declared a failure; it is tried again later",
    ),
    ("out-of-time", "the time for it was up"),
    (
        "invalid-input",
        "it breaks a rule of its format, so its provider decides",
    ),
    ("within-budget", "it was within its budget already"),
    (
        "stored-by-provider",
        "it continues a conversation that its provider stores",
    ),
    (
        "provider-compacts",
        "it asks its provider to compact the conversation",
    ),
    ("unreadable", "its body is no conversation that baler reads"),
    ("too-large", "its body is larger than baler reads"),
    (
        "content-encoding",
        "its body is compressed in a way that baler does not read",
    ),
    (
        "refused-by-provider",
        "the provider refused what baler made of it, so it went on as it came",
    ),
    (
        "tried-recently",
        "a compaction a few messages before was in vain; the next one waits for more messages",
    ),
    (
        "too-long",
        "the provider refused it as too long, so a smaller one was sent",
    ),
    ("unreachable", "no connection to the provider"),
    ("failed", "baler failed; its log says more"),
];

/// Returns a table of the requests that went on as they came although they were due.
pub(super) fn not_compacted(exchanges: &[Exchange]) -> Markup {
    let mut reasons: BTreeMap<&str, (usize, u32, u64)> = BTreeMap::new();
    for exchange in exchanges {
        if let Some(why) = &exchange.why {
            let (many, largest, last) = reasons.entry(why).or_default();
            *many += 1;
            *largest = exchange.tokens[0].max(*largest);
            *last = exchange.time;
        }
    }
    html! {
        @if !reasons.is_empty() {
            h2 { "Not compacted, although due" }
            (scroll("Requests that were not compacted", html! {
                table {
                    caption class="hidden" { "Requests that were not compacted, by reason" }
                    thead { tr { th scope="col" { "reason" } th scope="col" { "meaning" } th scope="col" class="number" { "requests" } th scope="col" class="number" { "largest" } th scope="col" { "last, UTC" } } }
                    tbody { @for (why, (many, largest, last)) in reasons {
                        tr {
                            th scope="row" class="nowrap" { (Untrusted(why)) }
                            td class="words" { @if let Some((_, meaning)) = REASONS.iter().find(|(code, _)| *code == why) { (meaning) } }
                            td class="number" { (number(many as u64)) }
                            td class="number" { (number(largest)) }
                            td class="nowrap" { (when::clock(last)) }
                        }
                    } }
                }
            }))
        }
    }
}

/// Returns the table of requests that got an error.
pub(super) fn errors(exchanges: &[Exchange]) -> Markup {
    let failed = || {
        (1..)
            .zip(exchanges)
            .filter(|(_, exchange)| exchange.status >= 400)
    };
    let many = failed().count();
    html! {
        @if many > 0 {
            h2 { "Errors" }
            p class="muted" { (count(many, "request")) " got an error instead of an answer." }
            (scroll("Errors", html! {
                table {
                    caption class="hidden" { "Requests that got an error, the newest first" }
                    thead { tr { th scope="col" { "request" } th scope="col" { "when, UTC" } th scope="col" class="number" { "status" } th scope="col" { "model" } th scope="col" { "done" } th scope="col" class="number" { "tokens sent" } } }
                    tbody { @for (place, exchange) in failed().collect::<Vec<_>>().into_iter().rev().take(ROWS) {
                        tr {
                            th scope="row" { (place) }
                            td class="nowrap" { (when::clock(exchange.time)) }
                            td class="number bad" { (exchange.status) }
                            td { (Untrusted(&exchange.model)) }
                            td { (done(exchange)) }
                            td class="number" { (number(exchange.tokens[1])) }
                        }
                    } }
                }
            }))
        }
    }
}

/// Returns the table of all requests.
pub(super) fn requests(exchanges: &[Exchange]) -> Markup {
    html! {
        details id="requests" {
            summary { "Table of requests" }
            (scroll("Requests", html! {
                table {
                    caption { "The newest first" @if exchanges.len() > ROWS { "; the newest " (ROWS) } }
                    thead { tr {
                        th scope="col" { "request" } th scope="col" { "when, UTC" } th scope="col" { "model" } th scope="col" { "done" }
                        th scope="col" class="number" { "came" } th scope="col" class="number" { "sent" } th scope="col" class="number" { "cached" }
                        th scope="col" class="number" { "status" } th scope="col" class="number" { "added" }
                    } }
                    tbody { @for (index, exchange) in exchanges.iter().enumerate().rev().take(ROWS) {
                        tr {
                            th scope="row" { (index + 1) }
                            td class="nowrap" { (when::clock(exchange.time)) }
                            td { (Untrusted(&exchange.model)) }
                            td { (done(exchange)) }
                            td class="number" { (number(exchange.tokens[0])) }
                            td class="number" { (number(exchange.tokens[1])) }
                            td class="number" { @match exchange.usage { Some(usage) => (number(usage.cached)), None => "–" } }
                            td class={ "number" @if exchange.status >= 400 { " bad" } } { (status(exchange)) }
                            td class="number" { (time(Duration::from_micros(exchange.added_us))) }
                        }
                    } }
                }
            }))
        }
    }
}

/// Says what was done with a request.
fn done(exchange: &Exchange) -> Markup {
    html! {
        @if exchange.shadow { "would be " }
        (exchange.action.name())
        @if let Some(why) = &exchange.why { " (" (Untrusted(why)) ")" }
        @if exchange.again { ", after a refusal" }
    }
}
