//! The page of one session.

mod tables;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use baler_proxy::{Exchange, Total};
use maud::{Markup, html};

use super::page::{Here, Page, scroll, short, tile};
use super::record::{compactions, main_model};
use super::{NOWHERE, Pages, chart, cost, not_found, parts, when};
use crate::figures::{count, number, time};
use crate::report::words::{Untrusted, label, share};

pub(super) async fn page(
    State(pages): State<Arc<Pages>>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let Some(name) = parts(path) else {
        return not_found(NOWHERE);
    };
    let found = {
        let name = name.clone();
        tokio::task::spawn_blocking(move || pages.record.exchanges(&name)).await
    };
    let Ok(Some(exchanges)) = found else {
        return not_found("No session has this name. The newest 500 are kept.");
    };
    let title = format!("Session {}", label(&name, 12));
    Page::new(&title, Here::Sessions)
        .live()
        .answer(StatusCode::OK, content(&name, &exchanges))
}

fn content(name: &str, exchanges: &[Exchange]) -> Markup {
    let mut total = Total::default();
    exchanges.iter().for_each(|exchange| total.add(exchange));
    html! {
        (head(name, exchanges, &total))
        (figures(exchanges, &total))
        (over_time(exchanges))
        (tables::compactions(name, exchanges))
        (tables::not_compacted(exchanges))
        (tables::errors(exchanges))
        (tables::requests(exchanges))
    }
}

fn head(name: &str, exchanges: &[Exchange], total: &Total) -> Markup {
    let (first, last) = (exchanges.first(), exchanges.last());
    let program = last.map_or("", |last| last.program.as_str());
    html! {
        p class="path" { a href="/ui" { "Sessions" } " / " span class="mono" { (label(name, 40)) } }
        h1 { (Untrusted(if program.is_empty() { "Unknown program" } else { program })) }
        p class="muted" {
            (Untrusted(&main_model(exchanges))) " · " (count(exchanges.len(), "request"))
            @if let (Some(first), Some(last)) = (first, last) {
                " in " (when::span(last.time.saturating_sub(first.time))) " · the last one " (when::ago(last.time))
            }
        }
        @if total.shadows > 0 {
            p class="notice" { "baler only observed " (count(total.shadows, "request")) " (" code { "--shadow" } "): they went on as they came, and the sizes “sent” are what would have been sent." }
        }
    }
}

fn figures(exchanges: &[Exchange], total: &Total) -> Markup {
    let (came, sent) = (total.tokens_came, total.tokens_sent);
    let usage = &total.usage;
    let cached = usage.cached_share().map(|part| share(part, 1.0));
    let cost = cost::of(exchanges);
    let mut added: Vec<u64> = exchanges.iter().map(|exchange| exchange.added_us).collect();
    added.sort_unstable();
    let median = added.get(added.len() / 2).copied().unwrap_or(0);
    html! {
        dl class="tiles" {
            (tile("Tokens sent", &short(sent), html! { "of " (short(came)) " that came" @if came > sent { ", " (share((came - sent) as f64, came as f64)) " less" } }))
            (tile("From the provider’s cache", cached.as_deref().unwrap_or("–"), html! {
                @if cached.is_none() { "The provider reported no usage." } @else { (short(usage.cached)) " cached, " (short(usage.fresh)) " fresh, " (short(usage.written)) " written; " (short(usage.output)) " of output" }
            }))
            @match cost {
                Some(cost) => (tile("Billed input", &short(cost.with as u64), html! {
                    "about " (short(cost.without as u64)) " without baler"
                    @if cost.without > cost.with { ", " (share(cost.without - cost.with, cost.without)) " less" }
                })),
                None if cached.is_none() => (tile("Billed input", "–", html! { "The provider reported no usage." })),
                None => (tile("Billed input", &short(usage.billed_input() as u64), html! { "as the provider reported it" })),
            }
            (tile("Compactions", &number(total.compactions as u64), html! { (count(total.shown, "more request")) " sent smaller; baler adds " (time(Duration::from_micros(median))) " to a request (median)" }))
        }
        details id="how" {
            summary { "How these are counted" }
            p class="small" {
                "Tokens that came and were sent are as baler counts them. Cached, fresh, written and billed are as the provider reported them: billed input counts a token read from the cache as a tenth of a fresh one, and one written to it as 1.25."
                @if cost.is_some() {
                    " “Without baler” is an estimate. A request that went on as it came counts as it was billed. For the others the whole request counts, in the provider’s tokens: what the largest earlier request that is not larger held as read from the cache, if any of what was sent came from there or only the compaction kept it from that, and the rest as " (if usage.written > 0 { "written" } else { "fresh" }) ". It assumes a model whose window holds all of it."
                }
            }
        }
    }
}

fn over_time(exchanges: &[Exchange]) -> Markup {
    let newest = compactions(exchanges).last();
    let budget = newest.and_then(|(_, exchange)| {
        let budget = exchange.receipt.as_ref()?["tokens"]["budget"].as_u64()?;
        u32::try_from(budget).ok()
    });
    html! {
        @if let Some(drawn) = chart::sizes(exchanges, budget) {
            h2 { "Over time" }
            figure {
                figcaption { "Size of each request in tokens, as it came and as it went on" }
                ul class="legend" {
                    li { span class="key came" {} " came" }
                    li { span class="key sent" {} " sent" }
                    @if newest.is_some() { li { span class="key cut" {} " compaction" } }
                    @if budget.is_some() { li { span class="key level" {} " budget" } }
                }
                (scroll("Chart of sizes", drawn))
            }
        }
    }
}
