//! The page of one compaction: what was kept, rewritten and removed, and how to get it back.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use baler_host::Host;
use baler_proxy::Exchange;
use maud::{Markup, html};

use super::page::{Here, Page, scroll};
use super::record::compactions;
use super::{NOWHERE, Pages, not_found, parts, when};
use crate::figures::{count, number};
use crate::report::read::{Receipt, Run, Unit, UnitOutcome};
use crate::report::reasons::meaning;
use crate::report::words::{Untrusted, label, reference};
use crate::report::{compaction, unit_chart};

/// Reason codes of strategies that ship with baler for units of which a part stays.
const REWRITES: [&str; 5] = ["cut", "masked", "parts-removed", "repeated", "shortened"];

pub(super) async fn page(
    State(pages): State<Arc<Pages>>,
    path: Result<Path<(String, usize)>, PathRejection>,
) -> Response {
    let Some((name, place)) = parts(path) else {
        return not_found(NOWHERE);
    };
    let read = {
        let (pages, name) = (Arc::clone(&pages), name.clone());
        tokio::task::spawn_blocking(move || pages.record.exchanges(&name)).await
    };
    let Ok(Some(exchanges)) = read else {
        return not_found("No session has this name. The newest 500 are kept.");
    };
    let many = compactions(&exchanges).count();
    let found = compactions(&exchanges).find(|(number, _)| *number == place);
    let Some((_, exchange)) = found else {
        return not_found("The session has no compaction of this number.");
    };
    let receipt = exchange.receipt.clone().unwrap_or_default();
    let Ok(receipt) = serde_json::from_value::<Receipt>(receipt) else {
        return not_found("The receipt of this compaction is not in a form that this baler reads.");
    };
    let mut run = Run {
        receipt,
        units: None,
    };
    let sizes = sizes(&pages, &run.receipt).await;
    run.units = sizes.and_then(|sizes| outcomes(&run.receipt, sizes));
    let title = format!("Compaction {place} of {}", label(&name, 12));
    let content = content(&pages, &name, (place, many), exchange, &run);
    Page::new(&title, Here::Sessions).answer(StatusCode::OK, content)
}

/// Returns the kind, messages and tokens of each unit before the compaction, from the archive; `None` if it is not there
/// any more.
async fn sizes(pages: &Pages, receipt: &Receipt) -> Option<Vec<(&'static str, usize, u32)>> {
    let archive = pages.archive.open().ok()?;
    let document = archive.undo(receipt.undo.as_deref()?).await.ok()?;
    let read = tokio::task::spawn_blocking(move || {
        let host = Host::builder().without_archive().build().ok()?;
        let conversation = host.read(document).ok()?;
        let units = conversation.units().iter();
        let sizes = units.map(|unit| (unit.kind.name(), unit.messages, unit.tokens));
        Some(sizes.collect())
    });
    read.await.ok()?
}

/// Returns the outcome of each unit as far as the receipt says it: what is in the archive was removed or rewritten, and the
/// reasons of strategies that ship with baler tell which.
fn outcomes(receipt: &Receipt, sizes: Vec<(&'static str, usize, u32)>) -> Option<Vec<Unit>> {
    let archived: HashSet<usize> = receipt.archive.iter().flatten().map(|of| of.unit).collect();
    let reasons = reasons(receipt);
    let is_rewritten = |unit: &usize| {
        let codes = reasons.get(unit).map(Vec::as_slice).unwrap_or_default();
        // The host gives no reason for what it shortens, and for thinking that its provider would refuse.
        codes.is_empty() || codes.iter().any(|code| REWRITES.contains(code))
    };
    let rewritten: HashSet<usize> = match (receipt.units.removed, receipt.units.rewritten) {
        (_, 0) => HashSet::new(),
        (0, _) => archived.clone(),
        _ => archived.iter().copied().filter(is_rewritten).collect(),
    };
    if sizes.len() != receipt.units.before || rewritten.len() != receipt.units.rewritten {
        return None;
    }
    let units = sizes.into_iter().enumerate();
    Some(
        units
            .map(|(index, (kind, messages, tokens))| {
                let (outcome, after) = if rewritten.contains(&index) {
                    (UnitOutcome::Rewritten, None)
                } else if archived.contains(&index) {
                    (UnitOutcome::Removed, Some(0))
                } else {
                    (UnitOutcome::Kept, Some(tokens))
                };
                Unit {
                    unit: Some(index),
                    kind: kind.to_owned(),
                    outcome,
                    quoted: false,
                    protected: false,
                    messages,
                    tokens_before: tokens,
                    tokens_after: after,
                }
            })
            .collect(),
    )
}

/// Returns the codes of each unit that is in the archive.
fn reasons(receipt: &Receipt) -> HashMap<usize, Vec<&str>> {
    let mut codes: HashMap<usize, Vec<&str>> = HashMap::new();
    for archived in receipt.archive.iter().flatten() {
        let named = receipt.reasons.iter().filter(|reason| {
            let first = reason.first as usize;
            (first..first.saturating_add(reason.count as usize)).contains(&archived.unit)
        });
        let named = named.map(|reason| reason.code.as_str()).collect();
        codes.insert(archived.unit, named);
    }
    codes
}

fn content(
    pages: &Pages,
    name: &str,
    (place, many): (usize, usize),
    exchange: &Exchange,
    run: &Run,
) -> Markup {
    let receipt = &run.receipt;
    let to = |place: usize| format!("/ui/sessions/{name}/compactions/{place}");
    html! {
        p class="path" { a href="/ui" { "Sessions" } " / " a class="mono" href={ "/ui/sessions/" (name) } { (label(name, 40)) } }
        h1 { "Compaction " (place) }
        p class="muted" { (compaction::headline(receipt)) " · " (when::day_and_time(exchange.time)) " · " (Untrusted(&exchange.model)) }
        @if many > 1 {
            nav class="steps" aria-label="Compactions" {
                @if place > 1 { a href=(to(place - 1)) rel="prev" { "← Compaction " (place - 1) } }
                @if place < many { a href=(to(place + 1)) rel="next" { "Compaction " (place + 1) " →" } }
            }
        }
        h2 { "Outcome" }
        (compaction::sizes(receipt))
        @match &run.units {
            Some(units) => {
                (unit_chart::patterns())
                (unit_chart::figure(run, units))
                p class="muted small" { "What was inserted, and how large rewritten units are now, is not recorded." }
            }
            None => p class="muted" { "How large each unit was is not shown: the whole request is not in the archive, or the receipt does not say which units were rewritten." },
        }
        (removed(pages, run))
        (restore(name, place, receipt))
        h2 { "Why, and by whom" }
        (compaction::details(run))
        (compaction::measured(receipt))
    }
}

/// Returns the table of what is in the archive, with links to the texts.
fn removed(pages: &Pages, run: &Run) -> Markup {
    let receipt = &run.receipt;
    let reasons = reasons(receipt);
    let archived: Vec<_> = receipt
        .archive
        .iter()
        .flatten()
        .take(unit_chart::MOST)
        .collect();
    let unit = |index: usize| run.units.as_ref().and_then(|units| units.get(index));
    html! {
        h2 { "Removed and rewritten" }
        @if receipt.archive.is_none() {
            p class="changed" { "There was no archive: what was removed is lost." }
        } @else if archived.is_empty() {
            p class="muted" { "Nothing." }
        } @else {
            p class="muted" { (count(archived.len(), "unit")) ", whole as they were before, in the archive. " @if !pages.shows_texts { "This proxy may be shared, so texts are shown only by " code { "baler ui" } " on its machine." } }
            (scroll("Removed and rewritten units", html! {
                table {
                    caption class="hidden" { "Units in the archive" }
                    thead { tr { th scope="col" { "unit" } th scope="col" { "outcome" } th scope="col" { "kind" } th scope="col" class="number" { "tokens before" } th scope="col" { "reason" } th scope="col" { "reference" } } }
                    tbody { @for of in &archived {
                        tr {
                            th scope="row" class="nowrap" { @match reference(&of.reference) {
                                Some(reference) if pages.shows_texts => a href={ "/ui/archive/" (reference) } { "Text of unit " (of.unit) },
                                _ => { "Unit " (of.unit) }
                            } }
                            @match unit(of.unit) {
                                Some(unit) => td class=(unit.outcome.name()) { (unit.outcome.name()) },
                                None => td { "–" },
                            }
                            td { @if let Some(unit) = unit(of.unit) { (unit.kind) } @else { "–" } }
                            td class="number" { @if let Some(unit) = unit(of.unit) { (number(unit.tokens_before)) } @else { "–" } }
                            td class="words" { @for code in reasons.get(&of.unit).into_iter().flatten() {
                                (Untrusted(code)) @if let Some(meant) = meaning(receipt.strategy.as_deref(), code) { span class="muted" { ": " (meant) } } " "
                            } }
                            td { code { (Untrusted(&of.reference)) } }
                        }
                    } }
                }
            }))
        }
    }
}

fn restore(name: &str, place: usize, receipt: &Receipt) -> Markup {
    html! {
        @if receipt.undo.is_some() {
            h2 { "Get it back" }
            p { "On the command line: the request as it was before, byte for byte, and one unit." }
            pre { code {
                "baler sessions " (name) " --receipt " (place) " > receipt.json\n"
                "baler undo receipt.json > whole.json\n"
                @if let Some(first) = receipt.archive.iter().flatten().find_map(|of| reference(&of.reference)) { "baler expand " (first) "\n" }
            } }
            @if place > 1 { p class="muted small" { "Before this compaction the request was shown by the one before; the receipt of the first leads to the request as the program sent it." } }
        }
    }
}
