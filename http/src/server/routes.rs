//! What there is, and who may ask for it.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, header};
use axum::routing::{get, post};
use baler_host::Question;
use bytes::Bytes;

use super::body::{self, Text};
use super::error::ApiError;
use super::{App, close, json_response, memory, openapi, own, remote, work};

/// A route: its name in figures, and its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Compact,
    ShouldCompact,
    Introspect,
    Health,
    Metrics,
    OpenApi,
    Echo,
    Other,
}

impl Route {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::ShouldCompact => "should-compact",
            Self::Introspect => "introspect",
            Self::Health => "healthz",
            Self::Metrics => "metrics",
            Self::OpenApi => "openapi",
            Self::Echo => "echo",
            Self::Other => "other",
        }
    }

    /// Who asks needs no token: nothing of a conversation or of a user's is told.
    const fn is_open(self) -> bool {
        matches!(self, Self::Health | Self::OpenApi)
    }
}

pub(crate) fn router(app: Arc<App>) -> Router {
    /// A handler that knows which route it serves.
    macro_rules! serve {
        ($route:ident) => {
            |State(app): State<Arc<App>>, request: Request<Body>| async move {
                answer(app, Route::$route, request).await
            }
        };
    }
    let mut router = Router::new()
        .route("/v1/compact", post(serve!(Compact)))
        .route("/v1/should-compact", post(serve!(ShouldCompact)))
        .route("/v1/introspect", post(serve!(Introspect)))
        .route("/healthz", get(serve!(Health)))
        .route("/metrics", get(serve!(Metrics)))
        .route("/openapi.json", get(serve!(OpenApi)));
    if app.has_echo {
        router = router.route("/v1/echo", post(serve!(Echo)));
    }
    router
        .fallback(serve!(Other))
        .method_not_allowed_fallback(|| async { ApiError::method().into_response() })
        .with_state(app)
}

async fn answer(app: Arc<App>, route: Route, request: Request<Body>) -> Response<Body> {
    let start = Instant::now();
    let mut response = match serve(&app, route, request).await {
        Ok(response) => response,
        Err(error) => {
            app.metrics.refused(error.code());
            if let Some(cause) = error.cause() {
                app.troubles.tell(error.code(), cause);
            }
            error.into_response()
        }
    };
    if route.is_open() {
        // Who shows no token keeps no connection.
        close(&mut response);
    }
    let status = response.status().as_u16();
    app.metrics.answered(route.name(), status, start.elapsed());
    tracing::debug!(
        route = route.name(),
        status,
        time_us = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX),
        "answered"
    );
    response
}

async fn serve(
    app: &Arc<App>,
    route: Route,
    request: Request<Body>,
) -> Result<Response<Body>, ApiError> {
    check_access(app, route, request.uri(), request.headers())?;
    let json = match route {
        Route::Other => return Err(ApiError::not_found()),
        Route::Health => Bytes::from_static(br#"{"status":"ok"}"#),
        Route::OpenApi => openapi::document(),
        Route::Metrics => return Ok(metrics(app)),
        Route::Echo => {
            let Text { text, reserved, .. } = body::read(app, request).await?;
            memory::answer(text, reserved)
        }
        Route::Compact => ask(app, Question::Compact, request).await?,
        Route::ShouldCompact => ask(app, Question::ShouldCompact, request).await?,
        Route::Introspect => ask(app, Question::Introspect, request).await?,
    };
    Ok(json_response(StatusCode::OK, json))
}

/// With a token, who asks has to show it. Without one only this machine is served; then the name
/// that it was asked under must be this machine's too, so that no page in a browser gets here by
/// a name of its own.
fn check_access(app: &App, route: Route, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    if route.is_open() {
        return Ok(());
    }
    match &app.token {
        Some(token) => {
            let shown = headers.get(header::AUTHORIZATION);
            if shown.is_some_and(|shown| token.is_in(shown.as_bytes())) {
                Ok(())
            } else {
                Err(ApiError::unauthorized())
            }
        }
        None if is_of_this_machine(uri, headers) => Ok(()),
        None => Err(ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            "host",
            "without a token this server answers only under names of this machine, such as 127.0.0.1 or localhost",
        )),
    }
}

fn is_of_this_machine(uri: &Uri, headers: &HeaderMap) -> bool {
    let named = match (uri.authority(), headers.get(header::HOST)) {
        (Some(named), _) => named.as_str(),
        (None, None) => return true,
        // One that cannot be read is a stranger's.
        (None, Some(named)) => match named.to_str() {
            Ok(named) => named,
            Err(_) => return false,
        },
    };
    let (host, port) = match named.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, port)) => (host, port),
            None => return false,
        },
        None => named.split_at(named.find(':').unwrap_or(named.len())),
    };
    let is_port = |port: &str| {
        port.strip_prefix(':')
            .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if !port.is_empty() && !is_port(port) {
        return false;
    }
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Serves one of the three questions: in another host's form where the body names a contract,
/// else in a client's own.
async fn ask(
    app: &Arc<App>,
    question: Question,
    request: Request<Body>,
) -> Result<Bytes, ApiError> {
    let Text {
        text,
        head,
        needs,
        reserved,
    } = body::read(app, request).await?;
    let is_of_another_host = head.is_of_another_host;
    let strategies: &[usize] = match question {
        // For the list of all, none of them is asked.
        Question::Introspect if !is_of_another_host && !head.has_names => &[],
        _ => &head.strategies,
    };
    work::run(
        app,
        reserved,
        needs,
        strategies,
        move |app, deadline, gates| async move {
            if is_of_another_host {
                return remote::answer(&app, question, &text, &deadline, &gates).await;
            }
            match question {
                Question::Compact => own::compact(&app, &text, &deadline, &gates).await,
                Question::ShouldCompact => {
                    own::should_compact(&app, &text, &deadline, &gates).await
                }
                Question::Introspect => own::introspect(&app, &text).await,
            }
        },
    )
    .await
}

fn metrics(app: &App) -> Response<Body> {
    let (running, waiting) = app.admission.load();
    let text = app.metrics.text(&[
        ("baler_running", "Requests that are worked on.", running),
        ("baler_waiting", "Requests that wait.", waiting),
        (
            "baler_buffered_bytes",
            "Memory of bodies, and of answers that are not taken yet.",
            app.memory.reserved(),
        ),
        (
            "baler_working_bytes",
            "Memory that work is reckoned to take beside.",
            app.memory.working(),
        ),
    ]);
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"),
    );
    response
}
