//! The page of all sessions.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::page::{Here, Page, scroll, short, tile};
use super::record::{Listed, Summary};
use super::{Pages, chart, failed, when};
use crate::figures::{count, number};
use crate::report::words::{Untrusted, label, share};

pub(super) async fn page(State(pages): State<Arc<Pages>>) -> Response {
    let listed = tokio::task::spawn_blocking(move || pages.record.listed()).await;
    match listed {
        Ok(Ok(listed)) => Page::new("Sessions", Here::Sessions)
            .live()
            .answer(StatusCode::OK, content(&listed)),
        Ok(Err(error)) => failed(&format!("the record of sessions cannot be read: {error}")),
        Err(_) => failed("the record of sessions cannot be read"),
    }
}

fn content(listed: &Listed) -> Markup {
    let Listed { main, aside } = listed;
    let failed: usize = aside.iter().map(|session| session.total.failed).sum();
    html! {
        h1 { "Sessions" }
        @if main.is_empty() && aside.is_empty() {
            (empty())
        } @else {
            p class="muted" { "What passed through " code { "baler run" } " and " code { "baler proxy" } ", the newest first. Sizes and counts; no text of a conversation is recorded." }
            (figures(main, aside))
            @if !main.is_empty() { (scroll("Sessions", table(main))) }
            @if !aside.is_empty() {
                details id="aside" open[main.is_empty()] {
                    summary {
                        (count(aside.len(), "smaller session")) " in which nothing had to be done"
                        @if failed > 0 { ", " span class="bad" { (count(failed, "error")) } }
                    }
                    p class="muted small" { "What programs ask on the side, such as for a title or of a sub-agent, and sessions that stayed small." }
                    (scroll("Smaller sessions", small_table(aside)))
                }
            }
        }
    }
}

fn empty() -> Markup {
    html! {
        div class="empty" {
            p { "No session yet. One begins with" }
            pre { code { "baler run -- claude" } }
            p class="muted" { "or with any program that takes the base URL of " code { "baler proxy" } ". Until then, " a href="/ui/try" { "try strategies" } " on a conversation that you have." }
        }
    }
}

fn figures(main: &[Arc<Summary>], aside: &[Arc<Summary>]) -> Markup {
    let all = || main.iter().chain(aside);
    let sum = |of: fn(&Summary) -> u64| all().map(|session| of(session)).sum::<u64>();
    let came = sum(|session| session.total.tokens_came);
    let sent = sum(|session| session.total.tokens_sent);
    let compactions = sum(|session| session.total.compactions as u64);
    let mut usage = baler_proxy::Usage::default();
    all().for_each(|session| usage += session.total.usage);
    let cached = usage.cached_share().map(|part| share(part, 1.0));
    html! {
        dl class="tiles" {
            (tile("Tokens sent", &short(sent), html! { "of " (short(came)) " that came" @if came > sent { ", " (share((came - sent) as f64, came as f64)) " less" } }))
            (tile("From the provider’s cache", cached.as_deref().unwrap_or("–"), html! { "of the tokens that providers counted" }))
            (tile("Compactions", &number(compactions), html! { "in " (count(main.iter().filter(|session| session.total.compactions > 0).count(), "session")) }))
        }
    }
}

fn table(sessions: &[Arc<Summary>]) -> Markup {
    html! {
        table class="list" {
            thead { tr {
                th scope="col" { "session" } th scope="col" { "last request" } th scope="col" class="number" { "requests" } th scope="col" class="number" { "compactions" }
                th scope="col" class="number" { "tokens sent" } th scope="col" class="number" { "without baler" } th scope="col" class="number" { "cached" }
                th scope="col" { span class="key before" {} " came " span class="key after" {} " sent" }
            } }
            tbody { @for session in sessions { (row(session)) } }
        }
    }
}

fn row(session: &Summary) -> Markup {
    let total = &session.total;
    html! {
        tr {
            th scope="row" {
                (link(session))
                @if session.is_live() { " " span class="badge good" { "live" } }
                @if total.shadows > 0 { " " span class="badge changed" { "only observed" } }
                @if total.failed > 0 { " " span class="badge bad" { (count(total.failed, "error")) } }
                div class="muted small" { (Untrusted(&session.model)) " · " span class="mono" { (label(&session.name, 12)) } }
            }
            td class="nowrap" { (when::ago(session.last)) }
            td class="number" { (number(total.requests as u64)) }
            td class="number" { @if total.compactions > 0 { strong { (number(total.compactions as u64)) } } @else { span class="muted" { "–" } } }
            td class="number" { (short(total.tokens_sent)) }
            td class="number" { (without(session)) }
            td class="number" { (cached(session)) }
            td { (chart::sparkline(&session.sizes)) }
        }
    }
}

fn small_table(sessions: &[Arc<Summary>]) -> Markup {
    html! {
        table class="list" {
            thead { tr {
                th scope="col" { "session" } th scope="col" { "model" } th scope="col" { "last request" } th scope="col" class="number" { "requests" }
                th scope="col" class="number" { "tokens sent" } th scope="col" class="number" { "cached" } th scope="col" class="number" { "errors" }
            } }
            tbody {
                @for session in sessions {
                    tr {
                        th scope="row" { (link(session)) " " span class="muted small mono" { (label(&session.name, 12)) } }
                        td { (Untrusted(&session.model)) }
                        td class="nowrap" { (when::ago(session.last)) }
                        td class="number" { (number(session.total.requests as u64)) }
                        td class="number" { (short(session.total.tokens_sent)) }
                        td class="number" { (cached(session)) }
                        td class="number" { @if session.total.failed > 0 { span class="bad" { (number(session.total.failed as u64)) } } @else { span class="muted" { "–" } } }
                    }
                }
            }
        }
    }
}

fn link(session: &Summary) -> Markup {
    let program = match session.program.as_str() {
        "" => "unknown program",
        program => program,
    };
    // The name is of letters, digits, `-` and `_`: others are no session.
    html! { a href={ "/ui/sessions/" (session.name) } { (Untrusted(program)) } }
}

fn without(session: &Summary) -> Markup {
    let (came, sent) = (session.total.tokens_came, session.total.tokens_sent);
    html! {
        (short(came))
        @if came > sent { div class="good small" { "−" (share((came - sent) as f64, came as f64)) } }
    }
}

fn cached(session: &Summary) -> String {
    let part = session.total.usage.cached_share();
    part.map_or_else(|| "–".to_owned(), |part| share(part, 1.0))
}
