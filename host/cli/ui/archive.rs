//! The page of what is stored under a reference. Only what a recorded session names is shown.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use baler_host::Archive;
use maud::{Markup, html};

use super::page::{Here, Page, attachment, scroll};
use super::{NOWHERE, Pages, failed, not_found, parts};
use crate::figures::{bytes, cleaned};
use crate::report::words;

/// The most bytes of a text on a page. More would slow a browser down.
const MOST: usize = 1 << 20;

/// The digits of a reference.
const LENGTH: usize = 20;

pub(super) async fn page(
    State(pages): State<Arc<Pages>>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let (archive, reference) = match named(&pages, path).await {
        Ok(named) => named,
        Err(response) => return response,
    };
    let text = match archive.text(&reference).await {
        Ok(text) => text,
        Err(error) => return not_found(&cleaned(&error.to_string())),
    };
    let end = text.floor_char_boundary(MOST);
    // A browser would act on some of what a terminal would: changes of direction.
    let shown = text.get(..end).unwrap_or_default().lines();
    let shown: String = shown
        .flat_map(|line| [cleaned(line), "\n".to_owned()])
        .collect();
    let linked = {
        let pages = Arc::clone(&pages);
        tokio::task::spawn_blocking(move || linked(&pages, &shown)).await
    };
    let content = html! {
        h1 { "Removed content" }
        p class="muted" { code { (reference) } " · " (bytes(text.len() as u64)) " as text; pictures and other media are named only" }
        @if end < text.len() { p class="notice" { "Only the first " (bytes(end as u64)) " are shown; the file has all of it." } }
        (scroll("Text", html! { pre class="text" { (linked.unwrap_or_default()) } }))
        h2 { "All of it" }
        p { a href={ "/ui/archive/" (reference) "/json" } download { "The messages as a file" } ", as JSON, byte for byte, with all media. On the command line:" }
        pre { code { "baler expand " (reference) "\nbaler expand --json " (reference) "\n" } }
    };
    let title = format!("Removed content {reference}");
    Page::new(&title, Here::Sessions).answer(StatusCode::OK, content)
}

/// Returns a text in which the references that recorded sessions name are links: what a strategy shortened says where it is
/// whole.
fn linked(pages: &Pages, text: &str) -> Markup {
    let pieces = text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric());
    let bare = |word: &'_ str| {
        word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric())
            .len()
    };
    let parts: Vec<(&str, &str)> = pieces
        .filter_map(|word| word.split_at_checked(bare(word)))
        .collect();
    let candidates = parts.iter().map(|(word, _)| *word);
    let candidates =
        candidates.filter(|word| words::reference(word).is_some_and(|word| word.len() == LENGTH));
    let named = pages
        .record
        .named(&candidates.collect())
        .unwrap_or_default();
    html! {
        @for (word, rest) in &parts {
            @if named.contains(word) { a href={ "/ui/archive/" (word) } { (word) } } @else { (word) }
            (rest)
        }
    }
}

pub(super) async fn download(
    State(pages): State<Arc<Pages>>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let (archive, reference) = match named(&pages, path).await {
        Ok(named) => named,
        Err(response) => return response,
    };
    match archive.get(&reference).await {
        Ok(messages) => attachment(&format!("{reference}.json"), "application/json", messages),
        Err(error) => not_found(&cleaned(&error.to_string())),
    }
}

/// Returns the archive and the reference of a path, if a recorded session names it and texts are shown at all.
async fn named(
    pages: &Arc<Pages>,
    path: Result<Path<String>, PathRejection>,
) -> Result<(Archive, String), Response> {
    let reference = parts(path).ok_or_else(|| not_found(NOWHERE))?;
    if !pages.shows_texts {
        let what =
            "This proxy may be shared, so texts are shown only by `baler ui` on its machine.";
        return Err(not_found(what));
    }
    let is_named = {
        let (pages, reference) = (Arc::clone(pages), reference.clone());
        tokio::task::spawn_blocking(move || {
            let named = pages.record.named(&HashSet::from([reference.as_str()]));
            named.map(|named| !named.is_empty())
        })
        .await
    };
    match is_named {
        Ok(Ok(true)) => {}
        Ok(Ok(false)) => return Err(not_found("No recorded session names this reference.")),
        _ => return Err(failed("the record of sessions cannot be read")),
    }
    let archive = pages.archive.open();
    let archive = archive.map_err(|failure| failed(&failure.message()))?;
    Ok((archive, reference))
}
