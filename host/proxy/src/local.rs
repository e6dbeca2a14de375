//! Whether a request was made for this machine.
//!
//! A proxy without a token serves all programs of this machine, and browsers are among them: a page of the web that has its
//! name resolved to this machine, or posts to it, is not to get an answer.

use axum::http::{HeaderMap, Uri, header};
use baler_http::names_this_machine;

/// Decides whether a request names this machine as its host, and was not made by a page from elsewhere.
pub(crate) fn is_local(uri: &Uri, headers: &HeaderMap) -> bool {
    let origin = headers.get(header::ORIGIN);
    let origin = origin.map(|origin| origin.to_str().unwrap_or_default());
    names_this_machine(uri, headers) && origin.is_none_or(is_own)
}

/// Programs with windows of their own have other schemes.
fn is_own(origin: &str) -> bool {
    let is_web = origin.starts_with("http:") || origin.starts_with("https:") || origin == "null";
    let page = origin.parse::<Uri>().ok();
    let is_named =
        |page: Uri| page.host().is_some() && names_this_machine(&page, &HeaderMap::new());
    !is_web || page.is_some_and(is_named)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_requests_for_this_machine_from_this_machine_are_local() {
        for (host, origin, expected) in [
            ("127.0.0.1:7411", None, true),
            ("localhost:7411", None, true),
            ("[::1]:7411", None, true),
            ("127.9.0.1", Some("http://localhost:3000"), true),
            ("127.0.0.1:1", Some("vscode-webview://a"), true),
            ("evil.example:7411", None, false),
            ("localhost.evil.example", None, false),
            ("192.168.1.7:7411", None, false),
            ("127.0.0.1:7411", Some("https://evil.example"), false),
            (
                "127.0.0.1:7411",
                Some("http://127.0.0.1.evil.example"),
                false,
            ),
            ("127.0.0.1:7411", Some("null"), false),
            ("127.0.0.1:7411", Some("https:"), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(host));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
            }
            let uri = Uri::from_static("/v1/messages");
            assert_eq!(is_local(&uri, &headers), expected, "{host} {origin:?}");
        }
    }
}
