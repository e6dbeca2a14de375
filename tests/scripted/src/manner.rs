//! The manner of an answer, which a client chooses by a header.

use std::io::Write as _;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::channel::Channel;

use crate::answers::Written;

/// The header.
const HEADER: &str = "x-scripted";

/// Time between two pieces of a slow answer.
const PAUSE: Duration = Duration::from_millis(200);

/// How a request is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// At once.
    Plain,
    /// Refused, until it is sent again.
    Busy,
    /// Refused.
    Refused,
    /// Compressed, also if the request does not accept that.
    Gzip,
    /// One piece after the other.
    Slow,
}

impl Manner {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        match headers.get(HEADER).map(HeaderValue::as_bytes) {
            Some(b"busy") => Self::Busy,
            Some(b"refused") => Self::Refused,
            Some(b"gzip") => Self::Gzip,
            Some(b"slow") => Self::Slow,
            _ => Self::Plain,
        }
    }

    /// Makes a response of an answer. `broken_off` is called if its reader goes away.
    pub(crate) fn respond(
        self,
        written: Written,
        broken_off: impl FnOnce() + Send + 'static,
    ) -> Response<Body> {
        let mut headers = HeaderMap::new();
        let kind = match written.is_events {
            true => "text/event-stream",
            false => "application/json",
        };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        if written.status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
        }
        let body = match self {
            Self::Slow => slowly(written.pieces, broken_off),
            Self::Gzip => {
                headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                compressed(&written.pieces.concat()).into()
            }
            _ => written.pieces.concat().into(),
        };
        let mut response = Response::new(body);
        *response.status_mut() = written.status;
        *response.headers_mut() = headers;
        response
    }
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing into memory does not fail.
    let _ = encoder.write_all(text.as_bytes());
    encoder.finish().unwrap_or_default()
}

fn slowly(pieces: Vec<String>, broken_off: impl FnOnce() + Send + 'static) -> Body {
    let (mut sender, body) = Channel::<Bytes>::new(1);
    tokio::spawn(async move {
        for piece in pieces {
            if sender.send_data(piece.into()).await.is_err() {
                return broken_off();
            }
            tokio::time::sleep(PAUSE).await;
        }
    });
    Body::new(body)
}
