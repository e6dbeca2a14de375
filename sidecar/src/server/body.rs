//! The body of a request: read within limits of size and time.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt as _;

use super::App;
use super::admission::Buffered;
use super::error::ApiError;
use super::nesting::is_deeper_than;

/// A body that is JSON as far as can be told without taking it apart.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// The room that it takes.
    pub(crate) buffered: Buffered,
}

pub(crate) async fn read(app: &App, request: Request<Body>) -> Result<Text, ApiError> {
    check_type(request.headers())?;
    let limits = &app.limits;
    let declared = request.headers().get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|bytes| bytes > limits.body_bytes as u64) {
        discard(request).await;
        return Err(ApiError::too_large(limits));
    }
    let mut buffered = Buffered::default();
    let bytes = tokio::time::timeout(limits.read_time, bytes(app, request, &mut buffered))
        .await
        .map_err(|_| ApiError::too_slow(limits))??;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ApiError::bad_request(
            "malformed",
            format!("the body is not UTF-8: the byte at offset {at} starts no character"),
        )
    })?;
    if is_deeper_than(text.as_bytes(), limits.nesting) {
        return Err(ApiError::bad_request(
            "too-deep",
            format!(
                "lists and objects of the body lie in each other more than {} levels deep, which is this server's limit",
                limits.nesting
            ),
        ));
    }
    Ok(Text { text, buffered })
}

/// A page in a browser can send other types anywhere without asking; this one it cannot.
fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let sent = headers.get(header::CONTENT_TYPE);
    let sent = sent.and_then(|sent| sent.to_str().ok()).unwrap_or_default();
    let essence = sent.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "media-type",
        "send JSON, with `Content-Type: application/json`",
    ))
}

/// Lets a body that is too large pass by for a moment: most clients look for an answer only when
/// they have sent everything, and a connection that is closed before takes it back.
async fn discard(request: Request<Body>) {
    let mut body = request.into_body();
    let pass = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = tokio::time::timeout(DISCARD_TIME, pass).await;
}

/// How long a body that is too large may pass by.
const DISCARD_TIME: Duration = Duration::from_secs(2);

async fn bytes(
    app: &App,
    request: Request<Body>,
    buffered: &mut Buffered,
) -> Result<Vec<u8>, ApiError> {
    let mut body = request.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::broken_off())?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > app.limits.body_bytes {
            return Err(ApiError::too_large(&app.limits));
        }
        bytes.extend_from_slice(&data);
        app.admission.buffer(bytes.len(), buffered)?;
    }
    Ok(bytes)
}
