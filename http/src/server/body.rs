//! The body of a request: read within limits of size, memory and time, and looked through.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt as _;

use super::App;
use super::error::ApiError;
use super::head::{self, Head};
use super::memory::Reservation;
use super::nesting::items;

/// A body that is JSON as far as can be told without taking it apart.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) head: Head,
    /// Bytes of memory that work on it is reckoned to take.
    pub(crate) needs: usize,
    /// The memory that it takes.
    pub(crate) reserved: Reservation,
}

pub(crate) async fn read(app: &Arc<App>, request: Request<Body>) -> Result<Text, ApiError> {
    check_type(request.headers())?;
    let limits = &app.limits;
    let declared = request.headers().get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let mut body = request.into_body();
    if declared.is_some_and(|bytes| bytes > limits.body_bytes as u64) {
        discard(&mut body).await;
        return Err(ApiError::too_large(limits));
    }
    let bytes = bytes(app, &mut body, declared);
    let bytes = tokio::time::timeout(limits.read_time, bytes)
        .await
        .map_err(|_| ApiError::too_slow(limits))?;
    match bytes {
        Ok((bytes, reserved)) => examined(app, bytes, reserved).await,
        Err(error) if error.is_too_slow() => Err(error),
        Err(error) => {
            discard(&mut body).await;
            Err(error)
        }
    }
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

/// Lets a body that was refused pass by for a moment: most clients look for an answer only when
/// they have sent everything, and a connection that is closed before takes it back.
async fn discard(body: &mut Body) {
    let pass = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = tokio::time::timeout(DISCARD_TIME, pass).await;
}

/// How long a body that was refused may pass by.
const DISCARD_TIME: Duration = Duration::from_secs(2);

/// Bytes that have to come within each [`super::ServerLimits::read_stall`]: a body that comes more
/// slowly holds the memory of what is there of it for longer than others should wait.
const PACE: usize = 64 << 10;

/// Reads a body. Its memory is reserved before it is taken.
async fn bytes(
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
    let (mut since, mut came) = (Instant::now(), 0);
    loop {
        let left = stall.saturating_sub(since.elapsed());
        let frame = tokio::time::timeout(left, body.frame()).await;
        let Some(frame) = frame.map_err(|_| ApiError::stalled(PACE, stall))? else {
            break;
        };
        let frame = frame.map_err(|_| ApiError::broken_off())?;
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
        came += data.len();
        if came >= PACE {
            (since, came) = (Instant::now(), 0);
        }
    }
    Ok((bytes, reserved))
}

/// Bytes of a body that are looked through in no time.
const QUICK: usize = 256 << 10;

/// Looks a body through. A large one is not looked through on the threads that talk to clients,
/// and only a few are at once.
async fn examined(app: &Arc<App>, bytes: Vec<u8>, reserved: Reservation) -> Result<Text, ApiError> {
    if bytes.len() <= QUICK {
        return examine(app, bytes, reserved);
    }
    let turn = app.admission.examine().await?;
    let app = app.clone();
    let examined = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        examine(&app, bytes, reserved)
    });
    examined
        .await
        .map_err(|_| ApiError::internal("a body could not be looked through"))?
}

fn examine(app: &App, bytes: Vec<u8>, reserved: Reservation) -> Result<Text, ApiError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ApiError::bad_request(
            "malformed",
            format!("the body is not UTF-8: the byte at offset {at} starts no character"),
        )
    })?;
    let items = items(text.as_bytes(), app.limits.nesting)
        .ok_or_else(|| ApiError::too_deep(&app.limits))?;
    let head = head::of(&text, &app.catalog, &app.limits)?;
    let items = items.saturating_add(head.items_of_text);
    let needs = app.memory.needs(text.len(), items, head.is_repaired)?;
    Ok(Text {
        text,
        head,
        needs,
        reserved,
    })
}
