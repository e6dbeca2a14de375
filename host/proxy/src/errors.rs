//! What the proxy itself refuses, in the form of the provider's errors, since clients read no other.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use baler_host::Format;
use serde_json::json;

use crate::headers;

/// Writes an error of the proxy. `format`: the form of the client's requests.
pub(crate) fn respond(format: Option<Format>, status: StatusCode, message: &str) -> Response<Body> {
    let code = status.as_u16();
    let is_clients = status.is_client_error();
    let message = format!("baler: {message}");
    let body = match format {
        Some(Format::Anthropic) => {
            let kind = match status {
                StatusCode::UNAUTHORIZED => "authentication_error",
                StatusCode::FORBIDDEN => "permission_error",
                StatusCode::NOT_FOUND => "not_found_error",
                StatusCode::GATEWAY_TIMEOUT => "timeout_error",
                _ if is_clients => "invalid_request_error",
                _ => "api_error",
            };
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Some(Format::Gemini) => {
            let name = match status {
                StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
                StatusCode::FORBIDDEN => "PERMISSION_DENIED",
                StatusCode::NOT_FOUND => "NOT_FOUND",
                StatusCode::GATEWAY_TIMEOUT => "DEADLINE_EXCEEDED",
                _ if is_clients => "INVALID_ARGUMENT",
                _ => "UNAVAILABLE",
            };
            json!({"error": {"code": code, "message": message, "status": name}})
        }
        _ => {
            let kind = if is_clients {
                "invalid_request_error"
            } else {
                "server_error"
            };
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
    };
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
        .headers_mut()
        .insert(headers::DONE, HeaderValue::from_static("refused"));
    response
}

/// Writes why an upstream did not answer.
pub(crate) fn unreachable(
    format: Option<Format>,
    upstream: &str,
    error: &reqwest::Error,
) -> Response<Body> {
    if error.is_timeout() && !error.is_connect() {
        let message = format!("the upstream `{upstream}` sent no answer in time");
        return respond(format, StatusCode::GATEWAY_TIMEOUT, &message);
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    let what = if error.is_connect() {
        "cannot connect to"
    } else {
        "lost the connection to"
    };
    let message = format!("{what} the upstream `{upstream}`: {innermost}");
    respond(format, StatusCode::BAD_GATEWAY, &message)
}
