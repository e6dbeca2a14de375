//! The page that tries strategies on a conversation of the person's.

mod choices;
mod upload;
mod work;

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::page::{Here, Page, attachment, scroll};
use super::{NOWHERE, Pages, not_found, parts};
use crate::figures::{count, number, time};
use crate::report::read::{Run, UnitOutcome};
use crate::report::words::{Untrusted, share};
use crate::report::{compaction, unit_chart};
use choices::{Chosen, Offer};
use upload::MOST;
use work::Done;

/// What went wrong: the status of the answer, and the words on the page.
pub(super) type Wrong = (StatusCode, String);

pub(super) async fn form(State(pages): State<Arc<Pages>>) -> Response {
    let offers = choices::offers(&pages.trial);
    let chosen = Chosen::first(&offers);
    answer(&offers, &chosen, Ok(html! {}))
}

pub(super) async fn run(State(pages): State<Arc<Pages>>, request: Request) -> Response {
    let offers = choices::offers(&pages.trial);
    let Ok(_slot) = pages.tries.slots.acquire().await else {
        return not_found(NOWHERE);
    };
    let mut chosen = Chosen::default();
    let done = match upload::read(request, &mut chosen, &pages.tries).await {
        Ok(()) => work::all(&pages.trial, &chosen, &offers).await,
        Err(wrong) => Err(wrong),
    };
    let results = done.map(|done| {
        let documents = done.iter().map(|done| done.document.clone()).collect();
        let id = chosen
            .tried
            .clone()
            .map(|tried| pages.tries.keep(tried, documents));
        chosen.kept = id.unwrap_or_default();
        results(&chosen.kept, &done)
    });
    if results.is_err()
        && let Some(tried) = chosen.tried.clone().filter(|_| chosen.kept.is_empty())
    {
        chosen.kept = pages.tries.keep(tried, Vec::new());
    }
    answer(&offers, &chosen, results)
}

/// Serves the body that came of a try.
pub(super) async fn download(
    State(pages): State<Arc<Pages>>,
    path: Result<Path<(String, usize)>, PathRejection>,
) -> Response {
    let Some((id, number)) = parts(path) else {
        return not_found(NOWHERE);
    };
    match pages.tries.result(&id, number) {
        Some((name, document)) => {
            let stem = name
                .rsplit_once('.')
                .map_or(name.as_str(), |(stem, _)| stem);
            let name = format!("{stem}.smaller-{}.json", number + 1);
            attachment(&name, "application/json", document.to_string())
        }
        None => not_found("This result is not kept any more; try again."),
    }
}

fn answer(offers: &[Offer], chosen: &Chosen, results: Result<Markup, Wrong>) -> Response {
    let (status, wrong, results) = match results {
        Ok(results) => (StatusCode::OK, None, results),
        Err((status, wrong)) => (status, Some(wrong), html! {}),
    };
    let content = html! {
        h1 { "Try strategies" }
        p class="muted" { "What would become of a conversation, by one or several strategies. It stays on this machine and is not stored; what is removed is not archived." }
        @if let Some(wrong) = wrong {
            p class="notice wrong" role="alert" id="wrong" { strong { "That did not work: " } (crate::figures::shortened(&wrong)) }
        }
        (fields(offers, chosen))
        (results)
    };
    Page::new("Try strategies", Here::Try).answer(status, content)
}

fn fields(offers: &[Offer], chosen: &Chosen) -> Markup {
    html! {
        form class="try" method="post" action="/ui/try#results" enctype="multipart/form-data" {
            fieldset {
                legend { "Conversation" }
                @if let Some(tried) = chosen.tried.as_ref().filter(|_| !chosen.kept.is_empty() && chosen.text.is_empty()) {
                    input type="hidden" name="kept" value=(chosen.kept);
                    p class="chosen" { "Chosen: " strong { (Untrusted(&tried.name)) } ", " (crate::figures::bytes(tried.document.len() as u64)) ". Choose another to replace it." }
                }
                label for="file" { "File" }
                input id="file" type="file" name="file" data-most=(MOST) aria-describedby="file-hint";
                p class="hint" id="file-hint" { "A request body, or a session log of a program; at most " (crate::figures::bytes(MOST as u64)) ". Or drop it anywhere on this page." }
                label for="text" { "Or paste it" }
                textarea id="text" name="text" rows="11" spellcheck="false" autocomplete="off" { "\n" (chosen.text) }
            }
            fieldset {
                legend { "Strategies" }
                @for offer in offers {
                    label class="choice" {
                        input type="checkbox" name="strategy" value=(offer.value) checked[chosen.strategies.contains(&offer.value)];
                        span { (Untrusted(&offer.name)) @if !offer.about.is_empty() { span class="muted small" { " " (Untrusted(&offer.about)) } } }
                    }
                }
                label for="budgets" { "Budgets" }
                input id="budgets" name="budgets" value=(chosen.budgets) autocomplete="off" aria-describedby="budgets-hint";
                p class="hint" id="budgets-hint" { "Tokens such as 8000, or a share such as 25%; several with commas between them" }
                button type="submit" { "Try" }
            }
        }
    }
}

/// Returns the results: a table to compare, and what each did.
fn results(id: &str, done: &[Done]) -> Markup {
    html! {
        section id="results" {
            h2 { "Results" }
            (unit_chart::patterns())
            (scroll("Results", html! {
                table {
                    caption class="hidden" { "Results side by side" }
                    thead { tr {
                        th scope="col" { "strategy" } th scope="col" class="number" { "budget" } th scope="col" { "outcome" }
                        th scope="col" class="number" { "before" } th scope="col" class="number" { "after" } th scope="col" class="number" { "" }
                        @for outcome in UnitOutcome::ALL { th scope="col" class="number" { (outcome.name()) } }
                        th scope="col" class="number" { "took" } th scope="col" { "body" }
                    } }
                    tbody { @for (index, done) in done.iter().enumerate() { (row(id, index, done)) } }
                }
            }))
            @for (index, done) in done.iter().enumerate() { (one(index, done)) }
        }
    }
}

fn row(id: &str, index: usize, done: &Done) -> Markup {
    let units = |outcome: UnitOutcome, run: &Run| {
        let units = run.units.iter().flatten();
        units.filter(|unit| unit.outcome == outcome).count()
    };
    html! {
        tr {
            th scope="row" { a href={ "#result-" (index + 1) } { (Untrusted(&done.strategy)) } }
            td class="number" { (Untrusted(&done.budget)) }
            @match &done.run {
                Ok(run) => {
                    @let tokens = &run.receipt.tokens;
                    td { (compaction::headline(&run.receipt)) }
                    td class="number" { (number(tokens.before)) }
                    td class="number" { strong { (number(tokens.after)) } }
                    td class="number muted" { (share(tokens.after.into(), tokens.before.into())) }
                    @for outcome in UnitOutcome::ALL { td class="number" { (number(units(outcome, run) as u64)) } }
                    td class="number" { (time(std::time::Duration::from_micros(run.receipt.time_us))) }
                    td { a href={ "/ui/try/" (id) "/" (index) } download { "Download" } }
                }
                Err(wrong) => td class="bad" colspan="11" { (Untrusted(wrong)) }
            }
        }
    }
}

fn one(index: usize, done: &Done) -> Markup {
    html! {
        @if let Ok(run) = &done.run {
            section id={ "result-" (index + 1) } {
                h3 { (Untrusted(&done.strategy)) " at " (Untrusted(&done.budget)) ": " (result(run)) }
                @if let Some(units) = run.units.as_ref().filter(|units| !units.is_empty()) { (unit_chart::figure(run, units)) }
                details {
                    summary { "Sizes, reasons and attempts" }
                    (compaction::sizes(&run.receipt))
                    (compaction::details(run))
                    (compaction::measured(&run.receipt))
                }
            }
        }
    }
}

fn result(run: &Run) -> String {
    let receipt = &run.receipt;
    let units = receipt.units.removed + receipt.units.rewritten;
    match receipt.outcome.as_str() {
        "compacted" => format!(
            "{} → {} tokens, {} removed or rewritten",
            number(receipt.tokens.before),
            number(receipt.tokens.after),
            count(units, "unit")
        ),
        _ => format!("unchanged, {} tokens", number(receipt.tokens.before)),
    }
}
