//! One request and its reply, bounded.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime};

use reqwest::header::TRANSFER_ENCODING;
use reqwest::{Client, Request, Response};

use super::failure::{Failure, Words};
use super::retry;

/// Bytes of an answer. The longest answers that models give have a tenth of it.
const MOST_ANSWER: usize = 8 * 1024 * 1024;
/// Bytes of a complaint.
const MOST_COMPLAINT: usize = 64 * 1024;
/// A complaint says what it is by its status; nobody waits long for the words.
const COMPLAINT_TIME: Duration = Duration::from_secs(2);

/// What came back.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// How long the server asks to wait.
    pub(super) told: Option<Duration>,
    /// Whether the server said where the body ends. If it did not, a broken connection looks like its end.
    pub(super) has_end: bool,
    /// Whole where the status is 200; of a complaint as much as there was.
    pub(super) body: Vec<u8>,
}

/// Sends a request and reads the reply.
pub(super) async fn send(http: &Client, request: Request) -> Result<Reply, Failure> {
    let mut response = http
        .execute(request)
        .await
        .map_err(|error| broken(&error))?;
    let status = response.status();
    let told = retry::told(response.headers(), SystemTime::now());
    let has_end =
        response.content_length().is_some() || response.headers().contains_key(TRANSFER_ENCODING);
    let mut body = Vec::new();
    if status.is_success() {
        read(&mut response, &mut body, MOST_ANSWER).await?;
    } else {
        let whole = read(&mut response, &mut body, MOST_COMPLAINT);
        // However that ends: the status is known.
        let _ = tokio::time::timeout(COMPLAINT_TIME, whole).await;
    }
    Ok(Reply {
        status: status.as_u16(),
        told,
        has_end,
        body,
    })
}

async fn read(response: &mut Response, body: &mut Vec<u8>, most: usize) -> Result<(), Failure> {
    let too_much = || Failure::senseless(format!("the answer has over {most} bytes"));
    if response
        .content_length()
        .is_some_and(|length| length > most as u64)
    {
        return Err(too_much());
    }
    while let Some(piece) = response.chunk().await.map_err(|error| broken(&error))? {
        if piece.len() > most - body.len() {
            return Err(too_much());
        }
        body.extend_from_slice(&piece);
    }
    Ok(())
}

/// What broke. The URL is left out, as whoever asks knows it.
fn broken(error: &reqwest::Error) -> Failure {
    let mut innermost: &(dyn Error + 'static) = error;
    while let Some(inner) = within(innermost) {
        innermost = inner;
    }
    // Certificates are the server's words too.
    let why = Words(None).bounded(&innermost.to_string());
    if innermost.is::<rustls::Error>() {
        // A certificate does not become valid by asking again.
        return Failure::senseless(format!("no trusted connection: {why}"));
    }
    if error.is_builder() {
        return Failure::senseless("the request cannot be made");
    }
    let what = if error.is_connect() {
        "no connection"
    } else if error.is_body() || error.is_decode() {
        "the answer broke off"
    } else {
        "the connection broke"
    };
    let reason = format!("{what}: {why}");
    if error.is_connect() {
        Failure::alone(reason)
    } else {
        Failure::passing(reason)
    }
}

/// What an error wraps. Errors of I/O do not list what they wrap among their sources, but its sources.
fn within<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>() {
        Some(error) => Some(error.get_ref()?),
        None => error.source(),
    }
}
