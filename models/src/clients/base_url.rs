//! Where a provider answers.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;

/// The address of an API, up to and with its version: `https://api.openai.com/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// A text is no base URL. The text is not repeated: there may be a password in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BaseUrlError {
    /// It is no URL of HTTP.
    #[error(
        "a base URL begins with http:// or https:// and names a host, such as http://localhost:11434/v1"
    )]
    NotHttp,
    /// It carries a user or a password.
    #[error(
        "a base URL holds no user and no password; a key comes from the environment or from a file"
    )]
    Credentials,
    /// It carries a query or a fragment.
    #[error("a base URL ends with its path: it has no `?` and no `#`")]
    Query,
}

impl BaseUrl {
    /// The address of something below.
    pub(super) fn join(&self, path: &[&str]) -> Url {
        let mut url = self.0.clone();
        // Fails only for URLs without a host, which are refused when read.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    pub(super) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Whether this machine itself answers: `localhost` is resolved to nothing else.
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
    fn paths_are_appended_whether_or_not_it_ends_in_a_slash() {
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
    fn a_path_cannot_be_left() {
        let url: BaseUrl = "http://host/v1".parse().unwrap();
        assert_eq!(
            url.join(&["models", "../../x?y#z:generateContent"])
                .as_str(),
            "http://host/v1/models/..%2F..%2Fx%3Fy%23z:generateContent"
        );
    }

    #[test]
    fn passwords_are_refused_and_not_repeated() {
        let error = "https://me:hunter2@host/v1".parse::<BaseUrl>().unwrap_err();
        assert_eq!(error, BaseUrlError::Credentials);
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }

    #[test]
    fn only_plain_addresses_are_taken() {
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
    fn this_machine_has_several_names() {
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
