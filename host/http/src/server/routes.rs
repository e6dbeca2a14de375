//! The routes of the server, and who may use them.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, Version, header};
use axum::routing::{get, post};
use baler_host::remote::Operation;
use bytes::Bytes;

use super::body::{self, RequestBody};
use super::error::ApiError;
use super::{App, client_api, close, json_response, memory, offload, openapi, strategy_api};

/// A route of the server.
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
    /// Returns the name of the route in metrics and logs.
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

    /// Whether the route requires no token. Its answer holds nothing of a conversation or of a user.
    const fn is_public(self) -> bool {
        matches!(self, Self::Health | Self::OpenApi)
    }
}

/// Makes the router of all routes.
pub(crate) fn router(app: Arc<App>) -> Router {
    /// A handler that knows which route it serves.
    macro_rules! serve {
        ($route:ident) => {
            |State(app): State<Arc<App>>, request: Request<Body>| async move {
                respond(app, Route::$route, request).await
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
        .method_not_allowed_fallback(|| async { ApiError::method_not_allowed().into_response() })
        .with_state(app)
}

/// Serves a request, turns an error into a response, and records metrics.
async fn respond(app: Arc<App>, route: Route, request: Request<Body>) -> Response<Body> {
    let start = Instant::now();
    let mut response = match serve(&app, route, request).await {
        Ok(response) => response,
        Err(error) => {
            app.metrics.record_error(error.code());
            if let Some(cause) = error.cause() {
                app.failure_log.report(error.code(), cause);
            }
            error.into_response()
        }
    };
    if route.is_public() {
        // A client that shows no token keeps no connection.
        close(&mut response);
    }
    let status = response.status().as_u16();
    app.metrics
        .record_response(route.name(), status, start.elapsed());
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
    check_host(&request)?;
    check_access(app, route, request.uri(), request.headers())?;
    let json = match route {
        Route::Other => return Err(ApiError::not_found()),
        Route::Health => Bytes::from_static(br#"{"status":"ok"}"#),
        Route::OpenApi => openapi::document(),
        Route::Metrics => return Ok(metrics_response(app)),
        Route::Echo => {
            let RequestBody { text, reserved, .. } = body::read(app, request).await?;
            memory::response_bytes(text, reserved)
        }
        Route::Compact => answer_question(app, Operation::Compact, request).await?,
        Route::ShouldCompact => answer_question(app, Operation::ShouldCompact, request).await?,
        Route::Introspect => answer_question(app, Operation::Introspect, request).await?,
    };
    Ok(json_response(StatusCode::OK, json))
}

/// Requires exactly one `Host` header, as HTTP/1.1 does (RFC 9112, section 3.2). Of two, a proxy in front of the
/// server may have checked the other one. HTTP/1.0 needs none.
fn check_host(request: &Request<Body>) -> Result<(), ApiError> {
    let is_needed = request.version() >= Version::HTTP_11;
    let what = match request.headers().get_all(header::HOST).iter().count() {
        1 => return Ok(()),
        0 if !is_needed => return Ok(()),
        0 => "the request has no `Host` header; send one, as HTTP/1.1 requires",
        _ => "the request has several `Host` headers; send one",
    };
    Err(ApiError::bad_request("host", what))
}

/// Requires the token, if one is set. Without one only this machine is served; then the `Host` header
/// must name this machine too, so that no web page can reach the server through a name of its own.
fn check_access(app: &App, route: Route, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    if route.is_public() {
        return Ok(());
    }
    match &app.token {
        Some(token) => {
            let sent = headers.get(header::AUTHORIZATION);
            if sent.is_some_and(|sent| token.matches_header(sent.as_bytes())) {
                Ok(())
            } else {
                Err(ApiError::unauthorized())
            }
        }
        None if names_this_machine(uri, headers) => Ok(()),
        None => Err(ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            "host",
            "the `Host` header does not name this machine; without a token this server answers only under names such as 127.0.0.1 or localhost",
        )),
    }
}

/// Whether the URI or the `Host` header names a loopback address or `localhost`.
// For other servers of baler.
#[doc(hidden)]
#[must_use]
pub fn names_this_machine(uri: &Uri, headers: &HeaderMap) -> bool {
    let named = match (uri.authority(), headers.get(header::HOST)) {
        (Some(named), _) => named.as_str(),
        (None, None) => return true,
        // A name that is not readable text is not this machine's.
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

/// Answers one of the three questions: of another host if the body names a `contract`, otherwise of a
/// client.
async fn answer_question(
    app: &Arc<App>,
    question: Operation,
    request: Request<Body>,
) -> Result<Bytes, ApiError> {
    let RequestBody {
        text,
        preview,
        work_bytes,
        reserved,
    } = body::read(app, request).await?;
    let is_strategy_request = preview.is_strategy_request;
    let strategies: &[usize] = match question {
        // A request for the list calls no strategy.
        Operation::Introspect if !is_strategy_request && !preview.names_strategies => &[],
        _ => &preview.strategies,
    };
    offload::run(
        app,
        reserved,
        work_bytes,
        strategies,
        move |app, deadline, gates| async move {
            if is_strategy_request {
                return strategy_api::answer(&app, question, &text, &deadline, &gates).await;
            }
            match question {
                Operation::Compact => client_api::compact(&app, &text, &deadline, &gates).await,
                Operation::ShouldCompact => {
                    client_api::should_compact(&app, &text, &deadline, &gates).await
                }
                Operation::Introspect => client_api::introspect(&app, &text).await,
            }
        },
    )
    .await
}

fn metrics_response(app: &App) -> Response<Body> {
    let (running, waiting) = app.admission.load();
    let text = app.metrics.to_prometheus(&[
        (
            "baler_running",
            "Requests that are being worked on.",
            running,
        ),
        ("baler_waiting", "Requests that are waiting.", waiting),
        (
            "baler_buffered_bytes",
            "Memory of bodies, and of responses that clients have not received yet.",
            app.memory.buffered_bytes(),
        ),
        (
            "baler_working_bytes",
            "Estimated memory of work, in addition to bodies and responses.",
            app.memory.working_bytes(),
        ),
    ]);
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"),
    );
    response
}
