//! Who may see the pages.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use baler_http::{Token, names_this_machine};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::html;

use super::page::{Here, Page};
use super::{HEADERS, Pages};

/// Answers who may not see the pages, and sets the headers of every answer.
pub(super) async fn guard(
    State(pages): State<Arc<Pages>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match refused(pages.token.as_ref(), &request) {
        Some(refused) => refused,
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

fn refused(token: Option<&Token>, request: &Request) -> Option<Response> {
    let headers = request.headers();
    match token {
        Some(token) if !shows(token, headers) => {
            let what = "Enter the token of this baler as the password; the name does not matter.";
            let mut response = refusal(StatusCode::UNAUTHORIZED, what);
            let basic = HeaderValue::from_static("Basic realm=\"baler\"");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, basic);
            return Some(response);
        }
        // Otherwise a page of elsewhere could read these, under a name of its own for this machine.
        None if !names_this_machine(request.uri(), headers) => {
            let what = "Open this page under the name of this machine, such as 127.0.0.1.";
            return Some(refusal(StatusCode::MISDIRECTED_REQUEST, what));
        }
        _ => {}
    }
    if request.method() == Method::POST && is_from_elsewhere(headers) {
        let what = "Another site sent this form.";
        return Some(refusal(StatusCode::FORBIDDEN, what));
    }
    None
}

fn refusal(status: StatusCode, what: &str) -> Response {
    Page::new("Refused", Here::Elsewhere).answer(
        status,
        html! {
            h1 { "Refused" }
            p { (what) }
        },
    )
}

/// Decides whether a request shows the token: in the proxy's own header, or as the password that a browser asks for. The
/// comparison takes constant time.
fn shows(token: &Token, headers: &HeaderMap) -> bool {
    if let Some(shown) = headers.get("x-baler-token") {
        return token.is(shown.as_bytes());
    }
    let sent = headers.get(header::AUTHORIZATION);
    let sent = sent.and_then(|sent| sent.as_bytes().split_at_checked("Basic ".len()));
    let Some((scheme, encoded)) = sent else {
        return false;
    };
    let decoded = STANDARD.decode(encoded.trim_ascii()).unwrap_or_default();
    let colon = decoded.iter().position(|byte| *byte == b':');
    let password = colon.and_then(|colon| decoded.get(colon + 1..));
    scheme.eq_ignore_ascii_case(b"Basic ") && password.is_some_and(|password| token.is(password))
}

/// Decides whether a browser says that another site sent a form. It says nothing of the origin of a form of these pages,
/// which ask it to send no referrer.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return !matches!(site.as_bytes(), b"same-origin" | b"none");
    }
    let origin = headers
        .get(header::ORIGIN)
        .and_then(|origin| origin.to_str().ok());
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    match origin.filter(|origin| *origin != "null") {
        None => false,
        Some(origin) => origin.split_once("://").map(|(_, host)| host) != host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(headers: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = headers.iter();
        pairs
            .map(|(name, value)| {
                (
                    name.parse().expect("a name"),
                    value.parse().expect("a value"),
                )
            })
            .collect()
    }

    #[test]
    fn the_token_is_the_password_of_any_name() {
        let token = Token::new("s3cret").expect("a token");
        let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
        for right in [
            ("x-baler-token", "s3cret".to_owned()),
            ("authorization", basic(":s3cret")),
            (
                "authorization",
                basic("me:s3cret").replace("Basic", "basic"),
            ),
        ] {
            assert!(shows(&token, &with(&[(right.0, &right.1)])), "{right:?}");
        }
        for wrong in [
            ("x-baler-token", "s3cre".to_owned()),
            ("authorization", basic("s3cret:")),
            ("authorization", basic("s3cret")),
            ("authorization", "Basic s3cret".to_owned()),
            ("authorization", "Bearer s3cret".to_owned()),
            ("authorization", String::new()),
        ] {
            assert!(!shows(&token, &with(&[(wrong.0, &wrong.1)])), "{wrong:?}");
        }
        assert!(!shows(&token, &HeaderMap::new()));
    }

    #[test]
    fn a_form_of_another_site_is_known_by_what_the_browser_says() {
        for (headers, expected) in [
            (&[][..], false),
            (
                &[("sec-fetch-site", "same-origin"), ("origin", "null")],
                false,
            ),
            (&[("sec-fetch-site", "cross-site")], true),
            (&[("sec-fetch-site", "same-site")], true),
            (&[("origin", "http://a:1"), ("host", "a:1")], false),
            (&[("origin", "http://b"), ("host", "a:1")], true),
        ] {
            assert_eq!(is_from_elsewhere(&with(headers)), expected, "{headers:?}");
        }
    }
}
