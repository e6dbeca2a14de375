//! The servers that requests go on to. A request can reach no other.

use std::fmt;
use std::str::FromStr;

use axum::http::HeaderMap;
use baler_models::clients::{BaseUrl, BaseUrlError, SetupError, connections};

/// A server that requests go on to, by name. As text: `NAME=URL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    name: String,
    base: BaseUrl,
}

/// Error of a text that is no [`Upstream`], or of upstreams that cannot be used together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// There is no name, or it is not one.
    #[error(
        "expected NAME=URL with a name of lower-case letters, digits and `-`, such as groq=https://api.groq.com/openai; {} have another meaning in paths", RESERVED.join(", ")
    )]
    Name,
    /// The URL cannot be used.
    #[error("the URL of the upstream `{name}` cannot be used: {reason}")]
    Url {
        /// The name of the upstream.
        name: String,
        /// What is wrong. Part of the message, since not everyone shows sources.
        reason: BaseUrlError,
    },
    /// Connections to it cannot be made safe.
    #[error("cannot set up connections to the upstream `{name}`")]
    Setup {
        /// The name of the upstream.
        name: String,
        /// What is wrong.
        #[source]
        source: SetupError,
    },
}

impl Upstream {
    /// Creates an upstream. A request to `/NAME/PATH` goes to `URL/PATH`.
    ///
    /// # Errors
    /// The name has other characters than lower-case letters, digits and `-`, or the URL cannot be used.
    pub fn new(name: &str, url: &str) -> Result<Self, UpstreamError> {
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || !name.bytes().all(is_name) || RESERVED.contains(&name) {
            return Err(UpstreamError::Name);
        }
        let base = url.parse().map_err(|reason| UpstreamError::Url {
            name: name.to_owned(),
            reason,
        })?;
        Ok(Self {
            name: name.to_owned(),
            base,
        })
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// First segments of paths that have another meaning.
const RESERVED: [&str; 7] = ["baler", "mcp", "metrics", "ui", "v1", "v1beta", "v1alpha"];

impl FromStr for Upstream {
    type Err = UpstreamError;

    fn from_str(text: &str) -> Result<Self, UpstreamError> {
        let (name, url) = text.split_once('=').ok_or(UpstreamError::Name)?;
        Self::new(name, url)
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.base)
    }
}

/// The upstreams of a proxy. By default `anthropic`, `openai` and `gemini`, at their providers.
#[derive(Debug, Clone)]
pub struct Upstreams(Vec<Upstream>);

/// Providers by name.
const PROVIDERS: [(&str, &str); 3] = [
    ("anthropic", "https://api.anthropic.com"),
    ("openai", "https://api.openai.com"),
    ("gemini", "https://generativelanguage.googleapis.com"),
];

impl Default for Upstreams {
    fn default() -> Self {
        let all = PROVIDERS.iter();
        Self(
            all.filter_map(|(name, url)| Upstream::new(name, url).ok())
                .collect(),
        )
    }
}

impl Upstreams {
    /// Adds an upstream, in place of one with the same name.
    #[must_use]
    pub fn with(mut self, upstream: Upstream) -> Self {
        self.0.retain(|other| other.name != upstream.name);
        self.0.push(upstream);
        self
    }

    /// Returns them.
    pub fn iter(&self) -> impl Iterator<Item = &Upstream> {
        self.0.iter()
    }
}

/// An upstream with its connections.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) name: String,
    pub(crate) http: reqwest::Client,
    base: String,
}

impl Connected {
    /// Makes connections to all upstreams possible. Connects to none yet.
    pub(crate) fn all(upstreams: &Upstreams) -> Result<Vec<Self>, UpstreamError> {
        let connect = |upstream: &Upstream| {
            let failed = |source| UpstreamError::Setup {
                name: upstream.name.clone(),
                source,
            };
            // The agent says who it is; its headers go on as they are.
            let http = connections(&upstream.base, false).map_err(failed)?;
            let http = http
                .pool_max_idle_per_host(usize::MAX)
                .pool_idle_timeout(IDLE)
                .read_timeout(READ)
                .http1_max_headers(MOST_HEADERS);
            Ok(Self {
                name: upstream.name.clone(),
                http: http
                    .build()
                    .map_err(|error| failed(SetupError::Tls(Box::new(error))))?,
                base: upstream.base.to_string(),
            })
        };
        upstreams.iter().map(connect).collect()
    }

    /// Returns the URL of a path with its query; `None` if the path leads out of the upstream's own.
    pub(crate) fn url(&self, path_and_query: &str) -> Option<reqwest::Url> {
        // Some servers read these as they read `..`.
        let path = path_and_query.split('?').next()?.to_ascii_lowercase();
        let path = path
            .replace("%2e", ".")
            .replace("%2f", "/")
            .replace("%5c", "/");
        if path.split(['/', '\\']).any(|segment| segment == "..") {
            return None;
        }
        let url = reqwest::Url::parse(&format!("{}{path_and_query}", self.base)).ok()?;
        let base = reqwest::Url::parse(&self.base).ok()?;
        let is_below = url.origin() == base.origin()
            && url
                .path()
                .strip_prefix(base.path().trim_end_matches('/'))?
                .starts_with('/');
        is_below.then_some(url)
    }
}

/// The most headers of an answer.
const MOST_HEADERS: usize = 1_000;

/// How long an unused connection stays open.
const IDLE: std::time::Duration = std::time::Duration::from_secs(60);

/// How long an upstream may send nothing. Clients wait for at most 10 minutes.
const READ: std::time::Duration = std::time::Duration::from_secs(900);

/// Returns the upstream that a request is for, with the path there: the one that the path begins with, else that of the
/// provider whose API it is.
pub(crate) fn choose<'u, 'p>(
    upstreams: &'u [Connected],
    path: &'p str,
    headers: &HeaderMap,
) -> Option<(&'u Connected, &'p str)> {
    let by_name = |name: &str| upstreams.iter().find(|upstream| upstream.name == name);
    let rest = path.strip_prefix('/')?;
    let first = rest.split('/').next().unwrap_or_default();
    if let Some(upstream) = by_name(first) {
        return Some((upstream, &rest[first.len()..]));
    }
    let provider = match first {
        "v1beta" | "v1alpha" => "gemini",
        "v1" if headers.contains_key("x-goog-api-key") => "gemini",
        "v1" if headers.contains_key("anthropic-version") => "anthropic",
        "v1" => "openai",
        // A name that no upstream has: its key is for nobody else.
        _ => return None,
    };
    Some((by_name(provider)?, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connected() -> Vec<Connected> {
        let groq = "groq=http://localhost:9/openai/"
            .parse()
            .expect("an upstream");
        Connected::all(&Upstreams::default().with(groq)).expect("connections")
    }

    fn chosen(path: &str, header: &'static str) -> Option<(String, String)> {
        let mut headers = HeaderMap::new();
        headers.insert(header, axum::http::HeaderValue::from_static("1"));
        let all = connected();
        let (upstream, path) = choose(&all, path, &headers)?;
        let url = upstream.url(path).map(|url| url.to_string());
        Some((upstream.name.clone(), url.unwrap_or_default()))
    }

    #[test]
    fn a_request_goes_to_the_upstream_that_it_names_else_to_the_provider_of_its_api() {
        for (path, header, name, url) in [
            (
                "/groq/v1/chat/completions",
                "x",
                "groq",
                "http://localhost:9/openai/v1/chat/completions",
            ),
            (
                "/v1/messages?beta=true",
                "anthropic-version",
                "anthropic",
                "https://api.anthropic.com/v1/messages?beta=true",
            ),
            (
                "/v1/responses",
                "x",
                "openai",
                "https://api.openai.com/v1/responses",
            ),
            (
                "/v1/models",
                "anthropic-version",
                "anthropic",
                "https://api.anthropic.com/v1/models",
            ),
            (
                "/v1beta/models/m:generateContent",
                "x",
                "gemini",
                "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
            ),
            (
                "/anthropic/api/hello",
                "x",
                "anthropic",
                "https://api.anthropic.com/api/hello",
            ),
        ] {
            let found = chosen(path, header).expect("an upstream");
            assert_eq!(found, (name.to_owned(), url.to_owned()), "{path}");
        }
        for header in ["x", "anthropic-version", "x-goog-api-key"] {
            assert_eq!(chosen("/elsewhere/v1/messages", header), None, "{header}");
        }
        assert_eq!(chosen("/", "x"), None);
    }

    #[test]
    fn no_path_leads_out_of_an_upstream() {
        for path in [
            "/groq/../admin",
            "/groq/%2e%2e/admin",
            "/groq//../../x",
            "/groq/..%2Fadmin",
            "/groq/.%2e%5cadmin",
            "/groq/v1\\..\\..\\admin",
        ] {
            let (_, url) = chosen(path, "x").expect("an upstream");
            assert_eq!(url, "", "{path}");
        }
        let (_, url) = chosen("/groq/v1/files/a..b?at=../x", "x").expect("an upstream");
        assert_eq!(url, "http://localhost:9/openai/v1/files/a..b?at=../x");
        assert_eq!(chosen("/groq@evil.example/x", "x"), None);
    }

    #[test]
    fn what_is_no_upstream_is_refused() {
        for text in [
            "groq",
            "=http://a",
            "Groq=http://a",
            "v1=http://a",
            "baler=http://a",
        ] {
            assert!(
                matches!(text.parse::<Upstream>(), Err(UpstreamError::Name)),
                "{text}"
            );
        }
        let error = "a=ftp://b".parse::<Upstream>().expect_err("refused");
        assert!(
            error.to_string().starts_with("the URL of the upstream `a`"),
            "{error}"
        );
        // Whoever shows sources, too, shows the reason once.
        assert!(std::error::Error::source(&error).is_none());
    }
}
