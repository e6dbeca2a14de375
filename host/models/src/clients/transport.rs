//! Sends one request and reads its reply, within bounds.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime};

use reqwest::header::TRANSFER_ENCODING;
use reqwest::{Client, Request, Response};

use super::failure::{Failure, Redactor};
use super::retry;
use crate::ModelError;

/// The most bytes of an answer, ten times as long as the longest answers of models.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;
/// The most bytes of an error body that are read.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// How long to wait for an error's body, as its status already says what is wrong.
const ERROR_BODY_TIME: Duration = Duration::from_secs(2);

/// A server's reply.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// How long the server asks to wait.
    pub(super) retry_after: Option<Duration>,
    /// Whether the server declared where the body ends. Otherwise, a broken connection looks like the end.
    pub(super) has_end: bool,
    /// Complete if the status is a success; of an error, what arrived in time.
    pub(super) body: Vec<u8>,
}

/// Sends a request and reads the reply.
pub(super) async fn send(http: &Client, request: Request) -> Result<Reply, Failure> {
    let mut response = http
        .execute(request)
        .await
        .map_err(|error| connection_failure(&error))?;
    let status = response.status();
    let retry_after = retry::retry_after(response.headers(), SystemTime::now());
    let has_end =
        response.content_length().is_some() || response.headers().contains_key(TRANSFER_ENCODING);
    let mut body = Vec::new();
    if status.is_success() {
        read(&mut response, &mut body, MAX_ANSWER_BYTES).await?;
    } else {
        let whole = read(&mut response, &mut body, MAX_ERROR_BYTES);
        // The status is known, so it does not matter how reading ends.
        let _ = tokio::time::timeout(ERROR_BODY_TIME, whole).await;
    }
    Ok(Reply {
        status: status.as_u16(),
        retry_after,
        has_end,
        body,
    })
}

async fn read(
    response: &mut Response,
    body: &mut Vec<u8>,
    max_bytes: usize,
) -> Result<(), Failure> {
    let too_much = || Failure::invalid(format!("the answer has over {max_bytes} bytes"));
    if response
        .content_length()
        .is_some_and(|length| length > max_bytes as u64)
    {
        return Err(too_much());
    }
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| connection_failure(&error))?
    {
        if chunk.len() > max_bytes - body.len() {
            return Err(too_much());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(())
}

/// Describes an error of the connection, without the URL.
fn connection_failure(error: &reqwest::Error) -> Failure {
    let mut innermost: &(dyn Error + 'static) = error;
    while let Some(inner) = source_of(innermost) {
        innermost = inner;
    }
    // The error may quote the server's certificate.
    let why = Redactor(None).bounded(&innermost.to_string());
    if innermost.is::<rustls::Error>() {
        // Another attempt would meet the same certificate.
        return Failure::Final(ModelError::InsecureConnection(why));
    }
    if error.is_builder() {
        return Failure::Final(ModelError::InvalidRequest);
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
        Failure::unreachable(reason)
    } else {
        Failure::transient(reason)
    }
}

/// The error that this one wraps. `source` of an I/O error skips the error that it wraps.
fn source_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>() {
        Some(error) => Some(error.get_ref()?),
        None => error.source(),
    }
}
