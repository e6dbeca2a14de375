//! Headers that belong to one connection, and not to what passes.

use axum::http::{HeaderMap, HeaderName, header};

/// The header in which a client shows the token of the proxy. Other headers hold the provider's key.
pub(crate) const TOKEN: HeaderName = HeaderName::from_static("x-baler-token");

/// The header of an answer that says what was done with its request.
pub(crate) const DONE: HeaderName = HeaderName::from_static("x-baler");

/// Headers of one connection (RFC 9110, 7.6.1).
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Removes what belongs to the connection, with the headers that `Connection` names.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
}

/// Makes the headers of a client those of the request that goes on.
pub(crate) fn for_upstream(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
    for name in [header::HOST, header::CONTENT_LENGTH, header::EXPECT, TOKEN] {
        headers.remove(name);
    }
}
