//! Pages about sessions, for a browser: what passed through a proxy, what was removed, and what strategies would do.
//!
//! Everything is rendered here; the one script only refreshes pages. Names of sessions, programs and models, receipts and
//! what is in the archive are untrusted: the markup escapes them, and the policy of each answer lets nothing else run.

mod access;
mod archive;
mod chart;
mod compaction;
mod cost;
mod page;
mod record;
mod session;
mod sessions;
mod tries;
mod try_out;
mod when;

use std::fmt;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{DefaultBodyLimit, Path, Request};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use axum::{Router, middleware};
use baler_host::model::ModelGrant;
use baler_host::project::Project;
use baler_http::Token;
use maud::html;

use crate::archive::ArchiveArguments;
use crate::arguments::SandboxArguments;
use crate::report;
use crate::settings;
use crate::sources::Source;
use page::{Here, Page};
use record::Record;
use tries::Tries;

/// What the page that tries strategies needs.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) sandbox: SandboxArguments,
    pub(crate) project: Option<Project>,
    /// The chain of the proxy; empty without one.
    pub(crate) chain: Vec<Source>,
    /// The model that strategies may ask.
    pub(crate) grant: Option<ModelGrant>,
}

/// What all pages share.
pub(crate) struct Pages {
    record: Record,
    archive: ArchiveArguments,
    token: Option<Token>,
    /// Whether the text of what was removed is shown.
    shows_texts: bool,
    trial: Trial,
    tries: Tries,
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}

impl Pages {
    /// Makes the pages of the sessions in the state folder, with what was removed from them in the archive.
    pub(crate) fn new(
        archive: ArchiveArguments,
        token: Option<Token>,
        shows_texts: bool,
        trial: Trial,
    ) -> Self {
        let state = settings::state_folder(archive.state());
        Self {
            record: Record::new(state.map(|state| state.join("sessions"))),
            archive,
            token,
            shows_texts,
            trial,
            tries: Tries::default(),
        }
    }
}

/// Forbids the browser to load or run anything that is not of these pages.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Makes the router of all pages, whose paths begin with `/ui`.
pub(crate) fn router(pages: Pages) -> Router {
    let pages = Arc::new(pages);
    let script = include_str!("ui.js");
    let icon = include_str!("icon.svg");
    let style = [report::COLOURS, report::STYLE, include_str!("ui.css")].concat();
    Router::new()
        .route("/ui", get(sessions::page))
        .route("/ui/sessions/{name}", get(session::page))
        .route(
            "/ui/sessions/{name}/compactions/{number}",
            get(compaction::page),
        )
        .route("/ui/archive/{reference}", get(archive::page))
        .route("/ui/archive/{reference}/json", get(archive::download))
        .route(
            "/ui/try",
            get(try_out::form)
                .post(try_out::run)
                // Is limited where it is read, with a page that says so.
                .layer(DefaultBodyLimit::disable()),
        )
        .route("/ui/try/{id}/{number}", get(try_out::download))
        .route("/ui/style.css", file("text/css", style))
        .route("/ui/script.js", file("text/javascript", script))
        .route("/ui/icon.svg", file("image/svg+xml", icon))
        .fallback(elsewhere)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&pages),
            access::guard,
        ))
        .with_state(pages)
}

/// Serves a file that is part of the program.
fn file(kind: &'static str, content: impl Into<String>) -> MethodRouter<Arc<Pages>> {
    let content = content.into();
    get(move || async move {
        let mut response = Response::new(Body::from(content));
        let kind = HeaderValue::from_static(kind);
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    })
}

/// Leads to the first page from where a person may look for it.
async fn elsewhere(request: Request) -> Response {
    if !matches!(request.uri().path(), "/" | "/ui/") {
        return not_found(NOWHERE);
    }
    let mut response = Response::default();
    *response.status_mut() = StatusCode::SEE_OTHER;
    let first = HeaderValue::from_static("/ui");
    response.headers_mut().insert(header::LOCATION, first);
    response
}

/// Returns a page that says what does not exist.
fn not_found(what: &str) -> Response {
    Page::new("Not found", Here::Elsewhere).answer(
        StatusCode::NOT_FOUND,
        html! {
            h1 { "Not found" }
            p { (what) }
            p { a href="/ui" { "All sessions" } }
        },
    )
}

/// Returns a page that says what failed.
fn failed(what: &str) -> Response {
    Page::new("Failed", Here::Elsewhere).answer(
        StatusCode::INTERNAL_SERVER_ERROR,
        html! {
            h1 { "That failed" }
            p { (report::words::Untrusted(what)) }
        },
    )
}

/// The answer to a path that names no page.
const NOWHERE: &str = "This page does not exist.";

/// Returns the parts of a path; `None` if they are not of the kind that the page has.
fn parts<T>(path: Result<Path<T>, PathRejection>) -> Option<T> {
    path.ok().map(|Path(parts)| parts)
}
