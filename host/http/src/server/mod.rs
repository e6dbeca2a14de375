//! The server.

mod admission;
mod body;
mod catalog;
mod client_api;
mod error;
mod failure_log;
mod field_types;
mod json_scan;
mod memory;
mod metrics;
mod offload;
mod openapi;
mod preview;
mod request;
mod routes;
mod serve;
mod strategy_api;
mod throttle;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use baler_host::Host;
use baler_host::request::Policy;

use crate::limits::ServerLimits;
pub use routes::names_this_machine;
pub use serve::{Server, ServerBuilder, ServerError};

use crate::token::Token;
use admission::Admission;
use catalog::Catalog;
use failure_log::FailureLog;
use memory::Memory;
use metrics::Metrics;

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct App {
    host: Host,
    catalog: Catalog,
    limits: ServerLimits,
    token: Option<Token>,
    admission: Admission,
    memory: Memory,
    metrics: Metrics,
    failure_log: FailureLog,
    policy: Policy,
    has_echo: bool,
}

/// Marks a response as the last one of its connection.
fn close(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
}

fn json_response(status: StatusCode, json: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(json.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
