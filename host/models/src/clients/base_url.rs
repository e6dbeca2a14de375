//! Base URLs of providers.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;

/// The base URL of an API, including its version, such as `https://api.openai.com/v1`.
///
/// ```
/// use baler_models::clients::BaseUrl;
///
/// let base_url: BaseUrl = "http://localhost:11434/v1/".parse()?;
/// assert_eq!(base_url.to_string(), "http://localhost:11434/v1");
/// # Ok::<(), baler_models::clients::BaseUrlError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// A text is not a valid base URL. The error does not repeat the text, which may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BaseUrlError {
    /// The text is not an HTTP or HTTPS URL with a host.
    #[error(
        "expected a base URL with http:// or https:// and a host, such as http://localhost:11434/v1"
    )]
    NotHttp,
    /// The URL contains a user name or a password.
    #[error(
        "a base URL must not contain a user name or a password; take the key from the environment or a file"
    )]
    Credentials,
    /// The URL contains a query or a fragment.
    #[error("a base URL must end with its path; remove the `?` or `#` and what follows")]
    Query,
}

impl BaseUrl {
    /// Appends segments to the path.
    pub(super) fn join(&self, path: &[&str]) -> Url {
        let mut url = self.0.clone();
        // Fails only for URLs without a host, which `from_str` rejects.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    pub(super) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Whether the URL names this machine. Connections resolve `localhost` to loopback addresses only.
    pub(super) fn is_local(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
        host == "localhost" || address.parse().is_ok_and(is_loopback)
    }
}

impl FromStr for BaseUrl {
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<Self, BaseUrlError> {
        let url = Url::parse(text.trim()).map_err(|_| BaseUrlError::NotHttp)?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(BaseUrlError::NotHttp);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BaseUrlError::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(BaseUrlError::Query);
        }
        Ok(Self(url))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn join_appends_segments_with_or_without_a_trailing_slash() {
        for base in ["http://localhost:11434/v1", "http://localhost:11434/v1/"] {
            let url: BaseUrl = base.parse().unwrap();
            assert_eq!(
                url.join(&["chat", "completions"]).as_str(),
                "http://localhost:11434/v1/chat/completions"
            );
            assert_eq!(url.to_string(), "http://localhost:11434/v1");
        }
    }

    #[test]
    fn join_escapes_segments() {
        let url: BaseUrl = "http://host/v1".parse().unwrap();
        assert_eq!(
            url.join(&["models", "../../x?y#z:generateContent"])
                .as_str(),
            "http://host/v1/models/..%2F..%2Fx%3Fy%23z:generateContent"
        );
    }

    #[test]
    fn from_str_rejects_credentials_without_repeating_them() {
        let error = "https://me:hunter2@host/v1".parse::<BaseUrl>().unwrap_err();
        assert_eq!(error, BaseUrlError::Credentials);
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }

    #[test]
    fn from_str_rejects_other_urls() {
        for wrong in [
            "",
            "localhost:11434",
            "ftp://host/v1",
            "http://",
            "file:///v1",
        ] {
            assert_eq!(
                wrong.parse::<BaseUrl>(),
                Err(BaseUrlError::NotHttp),
                "{wrong}"
            );
        }
        assert_eq!(
            "http://host/v1?key=1".parse::<BaseUrl>(),
            Err(BaseUrlError::Query)
        );
    }

    #[test]
    fn is_local_recognises_every_loopback_name() {
        for (url, local) in [
            ("http://localhost:1/v1", true),
            ("http://127.0.0.2/v1", true),
            ("http://[::1]:8080/v1", true),
            ("http://[::ffff:127.0.0.1]:8080/v1", true),
            ("http://localhost.example/v1", false),
            ("http://10.0.0.1/v1", false),
        ] {
            assert_eq!(url.parse::<BaseUrl>().unwrap().is_local(), local, "{url}");
        }
    }
}
