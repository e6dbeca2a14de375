//! Setting up a client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use rustls_platform_verifier::BuilderVerifierExt as _;
use serde_json::{Map, Value};

use super::base_url::BaseUrl;
use super::choice::ModelChoice;
use super::client::Client;
use super::key::{Key, KeyError, KeySource};
use super::{limits, wire};
use crate::{ModelInfo, Price, Provider};

/// Sets up a [`Client`]. Limits that are not set are the documented ones of the model, or low ones if the
/// model is unknown.
///
/// ```
/// use baler_models::Model as _;
/// use baler_models::clients::{Client, KeySource};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::builder("http://localhost:11434/v1#qwen3:8b".parse()?)
///     .key(KeySource::None)
///     .context_window(32_000)
///     .max_output_tokens(2_000)
///     .build()?;
/// assert_eq!(client.info().name, "qwen3:8b");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ClientBuilder {
    choice: ModelChoice,
    key: Option<KeySource>,
    base_url: Option<BaseUrl>,
    context_window: Option<u32>,
    max_output_tokens: Option<u32>,
    price: Option<Price>,
    extra_fields: Map<String, Value>,
    attempt_timeout: Duration,
}

/// A client cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The key cannot be read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The limits contradict each other.
    #[error(
        "expected at least 1 output token and a context window above that: \
         {max_output_tokens} output tokens, a window of {context_window}"
    )]
    InvalidLimits {
        /// The context window in tokens, as it was set or is documented.
        context_window: u32,
        /// The most tokens of an answer, as set or documented.
        max_output_tokens: u32,
    },
    /// A compatible server has no base URL.
    #[error("a compatible server needs a base URL")]
    MissingBaseUrl,
    /// A key from the environment would be sent unencrypted to another machine.
    #[error(
        "a key over plain http can be read on its way to {base_url}: use https://, name the key for this server \
         (env:NAME or file:PATH), or name none"
    )]
    KeyOverHttp {
        /// Where the key would be sent.
        base_url: BaseUrl,
    },
    /// TLS cannot be set up, for example because this machine has no certificates.
    #[error("no trusted connections can be made")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Slow models on small machines take minutes for an answer.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(300);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl ClientBuilder {
    pub(super) fn new(choice: ModelChoice) -> Self {
        Self {
            choice,
            key: None,
            base_url: None,
            context_window: None,
            max_output_tokens: None,
            price: None,
            extra_fields: Map::new(),
            attempt_timeout: ATTEMPT_TIMEOUT,
        }
    }

    /// Sets where to read the key. The default is the provider's variable ([`Provider::key_variable`]). For a
    /// compatible server, this variable need not be set, and its key is not sent over plain HTTP to another
    /// machine.
    #[must_use]
    pub fn key(mut self, source: impl Into<Option<KeySource>>) -> Self {
        self.key = source.into();
        self
    }

    /// Sets another server with the provider's protocol, such as a gateway. The key is sent there.
    #[must_use]
    pub fn base_url(mut self, base_url: BaseUrl) -> Self {
        self.base_url = Some(base_url);
        self
    }

    /// Sets the most tokens of question and answer together.
    #[must_use]
    pub fn context_window(mut self, tokens: impl Into<Option<u32>>) -> Self {
        self.context_window = tokens.into();
        self
    }

    /// Sets the most tokens of an answer.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: impl Into<Option<u32>>) -> Self {
        self.max_output_tokens = tokens.into();
        self
    }

    /// Sets the price. Without it, the price is unknown.
    #[must_use]
    pub fn price(mut self, price: impl Into<Option<Price>>) -> Self {
        self.price = price.into();
        self
    }

    /// Sets fields that are merged into the body of each request, such as how much the model thinks. Thinking
    /// counts towards the limit of an answer and may use all of it.
    ///
    /// For OpenAI: `{"reasoning_effort": "low"}`. For Gemini: `{"generationConfig": {"thinkingConfig":
    /// {"thinkingBudget": 0}}}`. They override the client's own fields, so leave out `model` and `stream`.
    #[must_use]
    pub fn extra_fields(mut self, fields: Map<String, Value>) -> Self {
        self.extra_fields = fields;
        self
    }

    /// Sets how long one attempt may take; the default is 5 minutes. All attempts together end within the
    /// time that the caller of [`Model::ask`](crate::Model::ask) gives.
    #[must_use]
    pub const fn attempt_timeout(mut self, time: Duration) -> Self {
        self.attempt_timeout = time;
        self
    }

    /// Builds the client. Reads the key, and sends nothing.
    ///
    /// # Errors
    /// The key cannot be read or would be sent unencrypted, a setting is missing or invalid, or TLS cannot be
    /// set up.
    pub fn build(self) -> Result<Client, SetupError> {
        let info = self.info()?;
        let provider = self.choice.provider;
        let default_url = || provider.base_url().and_then(|url| url.parse().ok());
        let base_url = self
            .base_url
            .or(self.choice.base_url)
            .or_else(default_url)
            .ok_or(SetupError::MissingBaseUrl)?;
        let is_key_named = self.key.is_some();
        let source = self.key.unwrap_or_else(|| default_key(provider));
        let key = source.read()?;
        // A caller may send a key that they named for a server in their own network. A key that happens to be
        // in the environment is never sent unencrypted to another machine.
        if key.is_some() && !is_key_named && !base_url.is_https() && !base_url.is_local() {
            return Err(SetupError::KeyOverHttp { base_url });
        }
        Ok(Client {
            http: connections(&base_url, key.is_some())?
                .build()
                .map_err(|error| SetupError::Tls(Box::new(error)))?,
            endpoint: wire::endpoint(provider, &base_url, &self.choice.model),
            provider,
            info,
            headers: headers(provider, key.as_ref()),
            key,
            extra_fields: self.extra_fields,
            attempt_timeout: self.attempt_timeout,
        })
    }

    fn info(&self) -> Result<ModelInfo, SetupError> {
        let known = limits::limits(self.choice.provider, &self.choice.model);
        let context_window = self.context_window.unwrap_or(known.context_window);
        let max_output_tokens = self
            .max_output_tokens
            .unwrap_or_else(|| known.max_output_tokens.min(context_window / 2));
        if max_output_tokens == 0 || max_output_tokens >= context_window {
            return Err(SetupError::InvalidLimits {
                context_window,
                max_output_tokens,
            });
        }
        let info = ModelInfo::new(self.choice.model.clone(), context_window, max_output_tokens);
        Ok(match self.price {
            Some(price) => info.with_price(price),
            None => info,
        })
    }
}

/// Where to read the key of a provider if the caller does not say.
fn default_key(provider: Provider) -> KeySource {
    let variable = provider.key_variable();
    let is_set = std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    if provider == Provider::Compatible && !is_set {
        KeySource::None
    } else {
        KeySource::Env(variable.to_owned())
    }
}

/// The headers of every request.
fn headers(provider: Provider, key: Option<&Key>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if provider == Provider::Anthropic {
        let version = HeaderName::from_static("anthropic-version");
        headers.insert(version, HeaderValue::from_static("2023-06-01"));
    }
    let (name, prefix) = match provider {
        Provider::OpenAi | Provider::Compatible => (AUTHORIZATION, "Bearer "),
        Provider::Anthropic => (HeaderName::from_static("x-api-key"), ""),
        Provider::Gemini => (HeaderName::from_static("x-goog-api-key"), ""),
    };
    if let Some(value) = key.and_then(|key| key.header(prefix)) {
        headers.insert(name, value);
    }
    headers
}

/// The addresses of `localhost`, whatever the machine's resolver says: what is sent there unencrypted must
/// not leave the machine. The port is the URL's.
const LOCALHOST: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
    SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 0),
];

/// Begins a client for connections to a base URL: TLS with the certificates that the machine trusts, the proxies of the
/// environment where they cannot read what they should not, no redirects, retries or decompression. `has_key`: the caller adds
/// a key to what it sends.
///
/// # Errors
/// TLS cannot be set up.
// For other crates of baler: the type is of an engine that may change.
#[doc(hidden)]
pub fn connections(
    base_url: &BaseUrl,
    has_key: bool,
) -> Result<reqwest::ClientBuilder, SetupError> {
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .map_err(|error| SetupError::Tls(Box::new(error)))?;
    let tls = if base_url.is_https() {
        let tls = tls
            .with_platform_verifier()
            .map_err(|error| SetupError::Tls(Box::new(error)))?;
        tls.with_no_client_auth()
    } else {
        // No certificate is ever checked, because redirects are not followed. So a machine without
        // certificates can ask its own server.
        tls.with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth()
    };
    let mut http = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("baler/", env!("CARGO_PKG_VERSION")))
        // A redirect could send the key to another server.
        .redirect(reqwest::redirect::Policy::none())
        // `retry.rs` counts all retries.
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIMEOUT)
        // Questions are rare: an idle connection would be stale by the next one, or belong to another
        // runtime.
        .pool_max_idle_per_host(0)
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .resolve_to_addrs("localhost", &LOCALHOST);
    // A proxy could read the key in plain HTTP.
    if base_url.is_local() || (has_key && !base_url.is_https()) {
        http = http.no_proxy();
    }
    Ok(http)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use reqwest::dns::{Addrs, Name, Resolve, Resolving};

    use super::*;

    /// A resolver that fails for every name.
    struct FailingResolver;

    impl Resolve for FailingResolver {
        fn resolve(&self, _: Name) -> Resolving {
            let unknown: Result<Addrs, Box<dyn std::error::Error + Send + Sync>> =
                Err("unknown name".into());
            Box::pin(std::future::ready(unknown))
        }
    }

    #[tokio::test]
    async fn localhost_is_loopback_whatever_the_resolver_says() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 1_024]).unwrap() > 0);
            let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
            stream.write_all(answer).unwrap();
        });
        let url = format!("http://localhost:{port}/v1");
        let http = connections(&url.parse().unwrap(), true).unwrap();
        let http = http
            .dns_resolver(Arc::new(FailingResolver))
            .build()
            .unwrap();
        let answer = http.get(url).send().await.unwrap();
        assert_eq!(answer.status(), 204);
        let elsewhere = http.get("http://localhost.example/v1").send().await;
        assert!(elsewhere.is_err(), "the resolver decides about other names");
    }
}
