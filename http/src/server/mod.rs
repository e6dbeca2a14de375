//! The server.

mod admission;
mod body;
mod catalog;
mod either;
mod error;
mod give_way;
mod head;
mod limits;
mod memory;
mod metrics;
mod nesting;
mod openapi;
mod own;
mod remote;
mod routes;
mod seats;
mod serve;
mod troubles;
mod wants;
mod work;
mod write_timeout;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use baler_host::Host;

pub use limits::ServerLimits;
pub use serve::{Server, ServerBuilder, ServerError};

use crate::token::Token;
use admission::Admission;
use catalog::Catalog;
use memory::Memory;
use metrics::Metrics;
use troubles::Troubles;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    host: Host,
    catalog: Catalog,
    limits: ServerLimits,
    token: Option<Token>,
    admission: Admission,
    memory: Memory,
    metrics: Metrics,
    troubles: Troubles,
    has_echo: bool,
}

/// Ends the connection with this answer.
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
