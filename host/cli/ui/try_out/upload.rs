//! Reads the form: a file or a text, the strategies and the budgets.

use std::time::Duration;

use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::StatusCode;

use super::Wrong;
use super::choices::Chosen;
use crate::figures::bytes;
use crate::ui::tries::{Tried, Tries};

/// The most bytes of a conversation, as the proxy reads them.
pub(super) const MOST: usize = 32 << 20;

/// The most bytes of the other fields.
const OTHERS: usize = 64 << 10;

/// The most bytes of a form that is read only so that the browser shows the answer.
const PASSED: usize = 1 << 30;

/// The time for a form. It comes from a browser, mostly on this machine.
const TIME: Duration = Duration::from_secs(30);

/// Reads a form. What was read before something went wrong is chosen.
pub(super) async fn read(
    request: Request,
    chosen: &mut Chosen,
    tries: &Tries,
) -> Result<(), Wrong> {
    let wrong = |status, what: &str| Err((status, what.to_owned()));
    match tokio::time::timeout(TIME, fields(request, chosen)).await {
        Err(_) => {
            return wrong(
                StatusCode::REQUEST_TIMEOUT,
                "the form did not arrive in time",
            );
        }
        Ok(read) => read?,
    }
    if !chosen.text.trim().is_empty() && chosen.tried.is_none() {
        chosen.tried = Some(Tried {
            name: "pasted.json".to_owned(),
            document: chosen.text.as_bytes().into(),
        });
    } else {
        chosen.text.clear();
    }
    if chosen.tried.is_none() {
        chosen.tried = tries.tried(&chosen.kept);
    } else {
        chosen.kept.clear();
    }
    match &chosen.tried {
        Some(_) => Ok(()),
        None if chosen.kept.is_empty() => wrong(
            StatusCode::UNPROCESSABLE_ENTITY,
            "choose a file, or paste a conversation",
        ),
        None => {
            chosen.kept.clear();
            let what = "the file is not kept any more; choose it again";
            wrong(StatusCode::UNPROCESSABLE_ENTITY, what)
        }
    }
}

async fn fields(request: Request, chosen: &mut Chosen) -> Result<(), Wrong> {
    let form = Multipart::from_request(request, &()).await;
    let mut form = form.map_err(|error| (error.status(), error.body_text()))?;
    // A form that holds too much is read to its end: what else was chosen is in it, and a browser shows no answer before.
    let mut is_too_large = false;
    while let Some(field) = form.next_field().await.map_err(broken)? {
        let name = field.name().unwrap_or_default().to_owned();
        let file = field.file_name().unwrap_or_default().to_owned();
        let most = match name.as_str() {
            "file" | "text" => MOST,
            _ => OTHERS,
        };
        let Some(content) = content(field, most).await? else {
            is_too_large = true;
            continue;
        };
        match name.as_str() {
            "file" if content.is_empty() => {}
            "file" => {
                chosen.tried = Some(Tried {
                    name: file,
                    document: content.into(),
                });
            }
            "text" => chosen.text = text(content)?,
            "kept" => chosen.kept = text(content)?,
            "budgets" => chosen.budgets = text(content)?,
            "strategy" => chosen.strategies.push(text(content)?),
            _ => {}
        }
    }
    match is_too_large {
        true => Err(too_large()),
        false => Ok(()),
    }
}

/// Reads a field; `None` if it has more bytes than `most`.
async fn content(mut field: Field<'_>, most: usize) -> Result<Option<Vec<u8>>, Wrong> {
    let mut content = Vec::new();
    let mut bytes = 0_usize;
    while let Some(piece) = field.chunk().await.map_err(broken)? {
        bytes = bytes.saturating_add(piece.len());
        if bytes <= most {
            content.extend_from_slice(&piece);
        } else if bytes <= PASSED {
            content = Vec::new();
        } else {
            return Err(too_large());
        }
    }
    Ok((bytes <= most).then_some(content))
}

fn broken(error: MultipartError) -> Wrong {
    let what = format!("the form is broken: {}", error.body_text());
    (StatusCode::BAD_REQUEST, what)
}

fn text(content: Vec<u8>) -> Result<String, Wrong> {
    let is_broken = |_| (StatusCode::BAD_REQUEST, "expected text in UTF-8".to_owned());
    String::from_utf8(content).map_err(is_broken)
}

fn too_large() -> Wrong {
    let most = bytes(MOST as u64);
    let what = format!(
        "it is larger than {most}; on the command line, `baler compact FILE --dry-run` shows the same"
    );
    (StatusCode::PAYLOAD_TOO_LARGE, what)
}
