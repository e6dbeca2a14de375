//! Where a remote strategy is.

use hyper::Uri;

/// A URL cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It is none, or not one of a server.
    #[error(
        "it is not the URL of a server, such as http://127.0.0.1:7410 or https://baler.example.org/team"
    )]
    Unfit,
    /// It has a user or password in it, which would be shown wherever it is shown.
    #[error(
        "it has a user or password in it; a server that wants a token gets it from a variable or file"
    )]
    HasSecret,
    /// Servers cannot be checked.
    #[error("https cannot be spoken: {what}")]
    Tls {
        /// Why not.
        what: String,
    },
}

/// A URL, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// As faults are counted by it: without a slash at its end.
    pub(crate) url: String,
    pub(crate) is_secure: bool,
    /// Host and, where it is given, port.
    pub(crate) authority: String,
    /// To connect to, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// In front of `/v1`; without a slash at its end.
    pub(crate) path: String,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self, UrlError> {
        let uri: Uri = url.trim().parse().map_err(|_| UrlError::Unfit)?;
        let is_secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(UrlError::Unfit),
        };
        let authority = uri.authority().ok_or(UrlError::Unfit)?;
        if authority.as_str().contains('@') {
            return Err(UrlError::HasSecret);
        }
        if uri.query().is_some() || url.contains('#') || authority.host().is_empty() {
            return Err(UrlError::Unfit);
        }
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => {
                if is_secure {
                    443
                } else {
                    80
                }
            }
            _ => authority.port_u16().ok_or(UrlError::Unfit)?,
        };
        let path = uri.path().trim_end_matches('/').to_owned();
        let host = authority.host();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let scheme = if is_secure { "https" } else { "http" };
        Ok(Self {
            url: format!("{scheme}://{authority}{path}"),
            is_secure,
            authority: authority.to_string(),
            host: bare.unwrap_or(host).to_owned(),
            port,
            path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let address = Address::parse("http://[::1]:7410/team/").expect("a URL");
        assert_eq!(address.url, "http://[::1]:7410/team");
        assert_eq!((address.host.as_str(), address.port), ("::1", 7410));
        assert_eq!(address.path, "/team");
        let address = Address::parse("https://baler.example.org").expect("a URL");
        assert_eq!((address.port, address.path.as_str()), (443, ""));
        assert!(address.is_secure);
    }

    #[test]
    fn what_is_no_url_of_a_server_is_refused() {
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
        assert!(matches!(
            Address::parse("http://me:s3cret@a/"),
            Err(UrlError::HasSecret)
        ));
    }
}
