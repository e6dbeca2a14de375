//! URLs of remote strategies.

use std::net::IpAddr;

use hyper::Uri;
use hyper::http::uri::Authority;

/// The error of a URL that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The text is not a URL of a server.
    #[error(
        "not the URL of a server; expected a URL such as http://127.0.0.1:7410 or https://baler.example.org/team, without `?` and `#`"
    )]
    Invalid,
    /// The URL has an `@`, so it may contain a user or password, which would be shown with the URL.
    #[error(
        "the URL has an `@`, so it may contain a user or password; give a token by a variable or file instead, and write an `@` in a path as %40"
    )]
    HasSecret,
    /// A token is given for a plain `http` URL of another machine, so networks on the way could read it.
    #[error(
        "a token is sent over https, or over http to this machine only; use an https URL, or a tunnel to an address such as http://127.0.0.1:7410"
    )]
    PlainToken,
    /// TLS cannot be set up.
    #[error("cannot use https: {what}")]
    Tls {
        /// The reason, with the remedy if there is one.
        what: String,
    },
}

/// A parsed URL in its normal form, since faults are counted by URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// The whole URL, without a trailing slash.
    pub(crate) url: String,
    pub(crate) is_secure: bool,
    /// The host, and the port unless it is the default of the scheme.
    pub(crate) authority: String,
    /// The host to connect to, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The path before `/v1`, without a trailing slash.
    pub(crate) path: String,
}

impl Address {
    /// Parses a URL.
    ///
    /// # Errors
    /// It is not a URL of a server, or it has an `@`.
    pub(crate) fn parse(url: &str) -> Result<Self, UrlError> {
        // Checked first: a password with `/` or `#` in it makes the rest parse as another URL, and would be
        // shown in the error.
        if url.contains('@') {
            return Err(UrlError::HasSecret);
        }
        let uri: Uri = url.trim().parse().map_err(|_| UrlError::Invalid)?;
        let is_secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(UrlError::Invalid),
        };
        let authority = uri.authority().ok_or(UrlError::Invalid)?;
        if uri.query().is_some() || url.contains('#') || authority.host().is_empty() {
            return Err(UrlError::Invalid);
        }
        let (host, port) = host_and_port(authority, is_secure).ok_or(UrlError::Invalid)?;
        let shown = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.clone()
        };
        let authority = if port == default_port(is_secure) {
            shown
        } else {
            format!("{shown}:{port}")
        };
        let path = uri.path().trim_end_matches('/').to_owned();
        let scheme = if is_secure { "https" } else { "http" };
        Ok(Self {
            url: format!("{scheme}://{authority}{path}"),
            is_secure,
            authority,
            host,
            port,
            path,
        })
    }

    /// Whether nobody on the way can read what is sent there.
    pub(crate) fn is_private(&self) -> bool {
        let is_loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
        self.is_secure || self.host == "localhost" || self.host.parse().is_ok_and(is_loopback)
    }

    /// Whether `server`, written `HOST` or `HOST:PORT`, is the server of this URL.
    fn is_at(&self, server: &str) -> bool {
        let Ok(authority) = server.parse::<Authority>() else {
            return false;
        };
        !server.contains('@')
            && host_and_port(&authority, self.is_secure)
                .is_some_and(|(host, port)| host == self.host && port == self.port)
    }
}

/// Whether `server`, written `HOST` or `HOST:PORT`, is the server of this URL. Without a port it
/// is the one on the default port of the URL's scheme. Returns false if one of them is malformed.
#[must_use]
pub fn is_server_of(server: &str, url: &str) -> bool {
    Address::parse(url).is_ok_and(|address| address.is_at(server))
}

/// Returns the host in its normal form, without brackets, and the port.
fn host_and_port(authority: &Authority, is_secure: bool) -> Option<(String, u16)> {
    let host = authority.host();
    let port = match authority.as_str().strip_prefix(host) {
        Some("") => default_port(is_secure),
        _ => authority.port_u16()?,
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    let host = match bare.parse::<IpAddr>() {
        Ok(ip) => ip.to_string(),
        Err(_) => bare.to_ascii_lowercase(),
    };
    Some((host, port))
}

const fn default_port(is_secure: bool) -> u16 {
    if is_secure { 443 } else { 80 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_is_parsed_into_its_parts() {
        let address = Address::parse("http://[::1]:7410/team/").expect("a URL");
        assert_eq!(address.url, "http://[::1]:7410/team");
        assert_eq!((address.host.as_str(), address.port), ("::1", 7410));
        assert_eq!(address.path, "/team");
        let address = Address::parse("https://baler.example.org").expect("a URL");
        assert_eq!((address.port, address.path.as_str()), (443, ""));
        assert!(address.is_secure);
    }

    #[test]
    fn url_is_normalized() {
        for (spelled, url) in [
            ("http://127.0.0.1:07410/", "http://127.0.0.1:7410"),
            ("HTTP://127.0.0.1:7410", "http://127.0.0.1:7410"),
            ("http://Gulls.Example:080/Team", "http://gulls.example/Team"),
            ("https://gulls.example:443", "https://gulls.example"),
            ("https://gulls.example:80", "https://gulls.example:80"),
            ("http://[0:0::1]:7410", "http://[::1]:7410"),
        ] {
            let address = Address::parse(spelled).expect("a URL");
            assert_eq!(address.url, url, "{spelled}");
            let (_, rest) = url.split_once("://").expect("a scheme");
            assert!(rest.starts_with(&address.authority), "{spelled}");
        }
    }

    #[test]
    fn server_is_matched_by_host_and_port() {
        for (server, url, is) in [
            ("baler.example.org", "https://baler.example.org/team", true),
            ("BALER.example.org", "https://baler.EXAMPLE.org", true),
            ("baler.example.org:443", "https://baler.example.org", true),
            ("baler.example.org", "https://baler.example.org:443", true),
            ("baler.example.org", "https://baler.example.org:8443", false),
            ("baler.example.org:8443", "https://baler.example.org", false),
            ("example.org", "https://baler.example.org", false),
            (
                "baler.example.org",
                "https://baler.example.org.evil/",
                false,
            ),
            ("127.0.0.1:7410", "http://127.0.0.1:7410/", true),
            ("127.0.0.1:7410", "http://127.0.0.1:7411/", false),
            ("127.0.0.1:07410", "http://127.0.0.1:7410/", true),
            ("[0:0::1]:7410", "http://[0::1]:7410", true),
            ("[::1]:7410", "http://[::1]:7410", true),
            ("me@a", "https://a", false),
            ("https://a", "https://a", false),
            ("", "https://a", false),
            ("a", "a", false),
        ] {
            assert_eq!(is_server_of(server, url), is, "{server} {url}");
        }
    }

    #[test]
    fn only_https_and_loopback_urls_are_private() {
        for (url, is) in [
            ("https://baler.example.org", true),
            ("http://127.0.0.1:7410", true),
            ("http://127.8.8.8", true),
            ("http://[::1]:7410", true),
            ("http://[::ffff:127.0.0.1]:7410", true),
            ("http://localhost:7410", true),
            ("http://LOCALHOST", true),
            ("http://baler.example.org", false),
            ("http://localhost.example.org", false),
            ("http://127.0.0.1.example.org", false),
            ("http://192.168.0.1:7410", false),
            ("http://0.0.0.0:7410", false),
        ] {
            let address = Address::parse(url).expect("a URL");
            assert_eq!(address.is_private(), is, "{url}");
        }
    }

    #[test]
    fn invalid_urls_are_refused() {
        for wrong in [
            "",
            "ftp://a/",
            "http://",
            "127.0.0.1:80",
            "http://a/?x=1",
            "http://a/#b",
            "file:///etc/passwd",
            "http://a:99999/",
        ] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn urls_with_an_at_sign_are_refused_as_secrets() {
        for url in [
            "http://me:s3cret@a/",
            "http://me:s3#cret@a/",
            "http://me:s3/cret@a/",
            "http://me:12/cret@a/",
            "http://me:s3 cret@a/",
            "http://me:s3cret@",
            "https:/me:s3cret@a/",
            "htps://me:s3cret@a/",
        ] {
            let refused = Address::parse(url);
            assert!(matches!(refused, Err(UrlError::HasSecret)), "{url}");
        }
        let path = Address::parse("http://a/%40team").expect("a URL");
        assert_eq!(path.path, "/%40team");
    }
}
