//! What an upstream answers: whether it refuses its request as too long. Everything else passes as it arrives.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Response, header};
use baler_models::clients::{TOO_LONG_STATUSES, is_too_long};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;

use crate::body::Passing;

/// An answer, of which the first bytes may have been read.
pub(crate) struct Answer {
    pub(crate) response: Response<Passing<reqwest::Body>>,
    /// Whether the provider refused the request as too long for the model.
    pub(crate) is_too_long: bool,
}

/// The most bytes of an answer that are held back.
const MOST: usize = 64 << 10;

/// The longest time for which they are. Providers refuse at once; who waits for an answer sees that one is on its way.
const TIME: Duration = Duration::from_secs(2);

/// Reads an answer as far as it takes to know whether the request was too long.
pub(crate) async fn look(response: reqwest::Response) -> Answer {
    let (parts, mut body) = axum::http::Response::<reqwest::Body>::from(response).into_parts();
    let status = parts.status.as_u16();
    let is_refusal = TOO_LONG_STATUSES.contains(&status);
    let mut read = BytesMut::new();
    let mut is_too_long = false;
    let mut failed = None;
    if is_refusal || (status == 200 && is_event_stream(&parts.headers)) {
        let hold = async {
            let mut seen = 0;
            while read.len() < MOST {
                let frame = match body.frame().await {
                    Some(Ok(frame)) => frame,
                    Some(Err(error)) => {
                        failed = Some(error);
                        break;
                    }
                    None => break,
                };
                if let Ok(data) = frame.into_data() {
                    read.extend_from_slice(&data);
                }
                if !is_refusal && let Some(refused) = beginning(&read, &mut seen) {
                    is_too_long = refused;
                    break;
                }
            }
        };
        // What was read is passed on whatever happens.
        let _ = tokio::time::timeout(TIME, hold).await;
        if is_refusal {
            is_too_long = self::is_too_long(status, &read);
        }
    }
    Answer {
        response: Response::from_parts(parts, Passing::new(read.freeze(), body).failing(failed)),
        is_too_long,
    }
}

/// Events of OpenAI Responses before anything is said.
const BEFORE_OUTPUT: [&str; 3] = [
    "response.created",
    "response.queued",
    "response.in_progress",
];

/// Reads the beginning of a stream of events. Returns whether it is a refusal of what is too long; `None` if more has to
/// arrive. `seen`: bytes of lines that were read before.
fn beginning(read: &[u8], seen: &mut usize) -> Option<bool> {
    for line in read.get(*seen..)?.split_inclusive(|byte| *byte == b'\n') {
        if !line.ends_with(b"\n") {
            return None;
        }
        *seen += line.len();
        let line = String::from_utf8_lossy(line);
        let Some(data) = line.strip_prefix("data:") else {
            continue;
        };
        let event: serde_json::Value = serde_json::from_str(data).unwrap_or_default();
        let kind = event["type"].as_str().unwrap_or_default();
        if BEFORE_OUTPUT.contains(&kind) {
            continue;
        }
        let error = match kind {
            "response.failed" => event["response"].to_string(),
            _ => data.to_owned(),
        };
        let is_error = matches!(kind, "response.failed" | "error") || event["error"].is_object();
        return Some(is_error && is_too_long(400, error.as_bytes()));
    }
    None
}

/// Decides whether an answer is a stream of events.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Makes the body of an answer one for the client. `see` gets each piece, and is dropped with the body.
pub(crate) fn tapped(
    response: Response<Passing<reqwest::Body>>,
    mut see: impl FnMut(&Bytes) + Send + 'static,
) -> Response<Body> {
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            if let Some(data) = frame.data_ref() {
                see(data);
            }
            frame
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_begins_with_a_refusal_is_one() {
        let created = "event: response.created\ndata: {\"type\":\"response.created\"}\n\n";
        let failed = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model.\"}}}\n\n";
        let said = "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\"}\n\n";
        let limited = "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"slow down\"}}}\n\n";
        let chat = "data: {\"error\":{\"message\":\"This model's maximum context length is 9 tokens\",\"code\":400}}\n\n";
        for (stream, expected) in [
            (created.to_owned(), None),
            (created[..30].to_owned(), None),
            ([created, failed].concat(), Some(true)),
            ([created, said, failed].concat(), Some(false)),
            ([created, limited].concat(), Some(false)),
            (chat.to_owned(), Some(true)),
            (": ping\n\n".to_owned(), None),
            ("data: {\"choices\":[]}\n\n".to_owned(), Some(false)),
            ("data: [DONE]\n\n".to_owned(), Some(false)),
        ] {
            assert_eq!(beginning(stream.as_bytes(), &mut 0), expected, "{stream}");
        }
    }
}
