//! Reads the body of a request within limits of size, memory and time, and scans it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use http_body_util::BodyExt as _;

use super::App;
use super::error::ApiError;
use super::json_scan::count_items;
use super::memory::Reservation;
use super::preview::{self, Preview};

/// A body that has been read and scanned, but not parsed.
#[derive(Debug)]
pub(crate) struct RequestBody {
    pub(crate) text: String,
    pub(crate) preview: Preview,
    /// Estimated bytes of memory that work on the body needs.
    pub(crate) work_bytes: usize,
    /// The memory of the body itself.
    pub(crate) reserved: Reservation,
}

/// Reads and scans the body of a request.
///
/// # Errors
/// Its content type is not JSON, it is compressed or not UTF-8, it exceeds a limit, or [`preview::read`] fails.
pub(crate) async fn read(app: &Arc<App>, request: Request<Body>) -> Result<RequestBody, ApiError> {
    check_content_type(request.headers())?;
    check_encoding(request.headers())?;
    let limits = &app.limits;
    let declared = request.headers().get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let mut body = request.into_body();
    if declared.is_some_and(|bytes| bytes > limits.body_bytes as u64) {
        discard(&mut body).await;
        return Err(ApiError::too_large(limits));
    }
    let bytes = read_bytes(app, &mut body, declared);
    let bytes = tokio::time::timeout(limits.read_time, bytes)
        .await
        .map_err(|_| ApiError::too_slow(limits))?;
    match bytes {
        Ok((bytes, reserved)) => scan_body(app, bytes, reserved).await,
        Err(error) if error.is_too_slow() => Err(error),
        Err(error) => {
            discard(&mut body).await;
            Err(error)
        }
    }
}

/// Requires the content type of JSON. A web page can send other types to any server without the
/// browser's check, but not this one.
fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let sent = headers.get(header::CONTENT_TYPE);
    let sent = sent.and_then(|sent| sent.to_str().ok()).unwrap_or_default();
    let essence = sent.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "media-type",
        "the content type is not JSON; send JSON, with `Content-Type: application/json`",
    ))
}

/// Refuses bodies that are said to be compressed: none is decompressed, so a body that can be read is not what its
/// header says, and a proxy in front of the server may have seen something else in it.
fn check_encoding(headers: &HeaderMap) -> Result<(), ApiError> {
    let is_identity = |sent: &HeaderValue| {
        let mut names = sent.as_bytes().split(|byte| *byte == b',');
        names.all(|name| {
            let name = name.trim_ascii();
            name.is_empty() || name.eq_ignore_ascii_case(b"identity")
        })
    };
    if headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .all(is_identity)
    {
        return Ok(());
    }
    Err(ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "content-encoding",
        "the body has a content encoding, which this server does not decode; send plain JSON, without `Content-Encoding`",
    ))
}

/// Reads and discards a refused body for a moment: most clients read the response only after they have
/// sent everything, and lose it if the connection closes before.
async fn discard(body: &mut Body) {
    let read_all = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = tokio::time::timeout(DISCARD_TIME, read_all).await;
}

/// The longest time for which a refused body is read and discarded.
const DISCARD_TIME: Duration = Duration::from_secs(2);

/// Bytes that have to arrive within each [`crate::ServerLimits::read_stall`]. A slower body would hold
/// memory for longer than other requests should wait.
const STALL_BYTES: usize = 64 << 10;

/// Reads a body. Memory is reserved before it is allocated.
async fn read_bytes(
    app: &App,
    body: &mut Body,
    declared: Option<u64>,
) -> Result<(Vec<u8>, Reservation), ApiError> {
    let most = app.limits.body_bytes;
    let declared = declared.and_then(|bytes| usize::try_from(bytes).ok());
    let expected = declared.map_or(most, |bytes| bytes.min(most));
    let mut reserved = Reservation::default();
    let mut bytes: Vec<u8> = Vec::new();
    let stall = app.limits.read_stall;
    let (mut since, mut arrived) = (Instant::now(), 0);
    loop {
        let left = stall.saturating_sub(since.elapsed());
        let frame = tokio::time::timeout(left, body.frame()).await;
        let Some(frame) = frame.map_err(|_| ApiError::stalled(STALL_BYTES, stall))? else {
            break;
        };
        let frame = frame.map_err(|_| ApiError::body_aborted())?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        let length = bytes.len() + data.len();
        if length > most {
            return Err(ApiError::too_large(&app.limits));
        }
        if length > bytes.capacity() {
            let capacity = (bytes.capacity() * 2).min(expected).max(length);
            app.memory.resize(&mut reserved, capacity)?;
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(&data);
        arrived += data.len();
        if arrived >= STALL_BYTES {
            (since, arrived) = (Instant::now(), 0);
        }
    }
    Ok((bytes, reserved))
}

/// Bytes of the largest body that is scanned on the thread that serves the client.
const INLINE_SCAN_BYTES: usize = 256 << 10;

/// Scans a body: a small one at once, a large one on a blocking thread, of which only a few do that at
/// the same time.
async fn scan_body(
    app: &Arc<App>,
    bytes: Vec<u8>,
    reserved: Reservation,
) -> Result<RequestBody, ApiError> {
    if bytes.len() <= INLINE_SCAN_BYTES {
        return scan(app, bytes, reserved);
    }
    let permit = app.admission.wait_for_scan().await?;
    let app = app.clone();
    let scanned = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        scan(&app, bytes, reserved)
    });
    scanned
        .await
        .map_err(|_| ApiError::internal("the scan of a body ended early"))?
}

/// Checks the encoding and the nesting of a body, and estimates the memory that work on it needs.
fn scan(app: &App, bytes: Vec<u8>, reserved: Reservation) -> Result<RequestBody, ApiError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ApiError::bad_request(
            "malformed",
            format!("the body is not UTF-8: invalid byte at offset {at}"),
        )
    })?;
    let items = count_items(text.as_bytes(), app.limits.nesting)
        .ok_or_else(|| ApiError::too_deep(&app.limits))?;
    let preview = preview::read(&text, &app.catalog, &app.limits)?;
    let items = items.saturating_add(preview.text_items);
    let work_bytes = app
        .memory
        .estimate_work(text.len(), items, preview.is_repaired)?;
    Ok(RequestBody {
        text,
        preview,
        work_bytes,
        reserved,
    })
}
