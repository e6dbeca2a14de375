//! How a client is set up.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use rustls_platform_verifier::BuilderVerifierExt as _;
use serde_json::{Map, Value};

use super::base_url::BaseUrl;
use super::choice::ModelChoice;
use super::client::Client;
use super::key::{KeyError, KeySource};
use super::{known, wire};
use crate::{ModelInfo, Price, Provider};

/// Sets a [`Client`] up. What is not said is what is documented of the model, or else little.
#[derive(Debug, Clone)]
pub struct ClientBuilder {
    choice: ModelChoice,
    key: Option<KeySource>,
    base_url: Option<BaseUrl>,
    context_window: Option<u32>,
    max_output_tokens: Option<u32>,
    price: Option<Price>,
    fields: Map<String, Value>,
    attempt_time: Duration,
}

/// A client cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// There is no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// No model fits into it.
    #[error(
        "a context window holds at least a token of a question and one of an answer, and an answer has at least one: \
         {context_window} and {max_output_tokens} cannot be"
    )]
    Limits {
        /// What was given, or is known, of the window.
        context_window: u32,
        /// What was given, or is known, of answers.
        max_output_tokens: u32,
    },
    /// Neither the choice nor the builder has one.
    #[error("a compatible server needs a base URL")]
    BaseUrl,
    /// A key would be sent where others can read it.
    #[error(
        "a key over plain http can be read on its way to {0}: use https://; or name the key for this server \
         (env:NAME, file:PATH), or none"
    )]
    KeyInTheOpen(String),
    /// There is no way to trusted connections, such as certificates on this machine.
    #[error("no trusted connections can be made: {0}")]
    Tls(String),
}

/// Slow models on small machines take minutes for an answer.
const ATTEMPT_TIME: Duration = Duration::from_secs(300);
const CONNECT_TIME: Duration = Duration::from_secs(10);

impl ClientBuilder {
    pub(super) fn new(choice: ModelChoice) -> Self {
        Self {
            choice,
            key: None,
            base_url: None,
            context_window: None,
            max_output_tokens: None,
            price: None,
            fields: Map::new(),
            attempt_time: ATTEMPT_TIME,
        }
    }

    /// Where the key comes from. Without this, from the provider's variable ([`Provider::key_variable`]), which for a
    /// compatible server need not be set and is not sent over plain http to another machine.
    #[must_use]
    pub fn key(mut self, source: KeySource) -> Self {
        self.key = Some(source);
        self
    }

    /// Another place where the provider's protocol is spoken, such as a gateway. The key goes there.
    #[must_use]
    pub fn base_url(mut self, base_url: BaseUrl) -> Self {
        self.base_url = Some(base_url);
        self
    }

    /// Tokens of question and answer together.
    #[must_use]
    pub const fn context_window(mut self, tokens: u32) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// The most tokens of an answer.
    #[must_use]
    pub const fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// What it costs. Without this, it is not known.
    #[must_use]
    pub const fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Fields for the body of each request, within objects too: what is not the same for all models, above all how much
    /// they think. Thinking counts towards the limit of an answer, and may leave nothing of it.
    ///
    /// `{"reasoning_effort": "low"}` for OpenAI, `{"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}` for
    /// Gemini. They go before what is asked otherwise, so `model` or `stream` have no place here.
    #[must_use]
    pub fn fields(mut self, fields: Map<String, Value>) -> Self {
        self.fields = fields;
        self
    }

    /// How long one attempt may take; 5 minutes without this. All together take no longer than the time of a question.
    #[must_use]
    pub const fn attempt_time(mut self, time: Duration) -> Self {
        self.attempt_time = time;
        self
    }

    /// The client. Reads the key; sends nothing.
    ///
    /// # Errors
    /// There is no key where it should be, or a limit cannot be.
    pub fn build(self) -> Result<Client, SetupError> {
        let info = self.info()?;
        let provider = self.choice.provider;
        let own = || provider.base_url().and_then(|url| url.parse().ok());
        let base_url = self
            .base_url
            .or(self.choice.base_url)
            .or_else(own)
            .ok_or(SetupError::BaseUrl)?;
        let variable = provider.key_variable();
        let is_named = self.key.is_some();
        let source = self.key.unwrap_or_else(|| {
            let is_optional = provider == Provider::Compatible;
            let is_set = std::env::var_os(variable).is_some_and(|value| !value.is_empty());
            if is_optional && !is_set {
                KeySource::None
            } else {
                KeySource::Env(variable.to_owned())
            }
        });
        let key = source.read()?;
        // Who names a key for a server in a network of their own may send it; one that happens to be
        // in the environment goes nowhere in the open.
        if key.is_some() && !is_named && !base_url.is_https() && !base_url.is_local() {
            return Err(SetupError::KeyInTheOpen(base_url.to_string()));
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if provider == Provider::Anthropic {
            let version = HeaderName::from_static("anthropic-version");
            headers.insert(version, HeaderValue::from_static("2023-06-01"));
        }
        let (name, before) = match provider {
            Provider::OpenAi | Provider::Compatible => (AUTHORIZATION, "Bearer "),
            Provider::Anthropic => (HeaderName::from_static("x-api-key"), ""),
            Provider::Gemini => (HeaderName::from_static("x-goog-api-key"), ""),
        };
        if let Some(value) = key.as_ref().and_then(|key| key.header(before)) {
            headers.insert(name, value);
        }
        Ok(Client {
            http: connections(&base_url, key.is_some())?
                .build()
                .map_err(|error| SetupError::Tls(error.to_string()))?,
            endpoint: wire::endpoint(provider, &base_url, &self.choice.model),
            provider,
            info,
            key,
            headers,
            fields: self.fields,
            attempt_time: self.attempt_time,
        })
    }

    fn info(&self) -> Result<ModelInfo, SetupError> {
        let known = known::limits(self.choice.provider, &self.choice.model);
        let context_window = self.context_window.unwrap_or(known.context_window);
        let max_output_tokens = self
            .max_output_tokens
            .unwrap_or_else(|| known.max_output_tokens.min(context_window / 2));
        if max_output_tokens == 0 || max_output_tokens >= context_window {
            return Err(SetupError::Limits {
                context_window,
                max_output_tokens,
            });
        }
        Ok(ModelInfo {
            name: self.choice.model.clone(),
            context_window,
            max_output_tokens,
            price: self.price,
        })
    }
}

/// Addresses of `localhost`, whatever the machine's resolver takes it for: what is sent there in
/// the open must not leave the machine. The port is the URL's.
const LOCALHOST: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
    SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 0),
];

fn connections(base_url: &BaseUrl, has_key: bool) -> Result<reqwest::ClientBuilder, SetupError> {
    let failed = |error: &dyn std::fmt::Display| SetupError::Tls(error.to_string());
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .map_err(|error| failed(&error))?;
    let tls = if base_url.is_https() {
        let tls = tls
            .with_platform_verifier()
            .map_err(|error| failed(&error))?;
        tls.with_no_client_auth()
    } else {
        // Never used, as nothing is redirected. So a machine without certificates can ask its own server.
        tls.with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth()
    };
    let mut http = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("baler/", env!("CARGO_PKG_VERSION")))
        // A key goes nowhere but where it was meant to.
        .redirect(reqwest::redirect::Policy::none())
        // All retries are counted here.
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIME)
        // Questions are rare. A kept connection would be stale by the next one, or of another runtime.
        .pool_max_idle_per_host(0)
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .resolve_to_addrs("localhost", &LOCALHOST);
    // Over plain http a proxy reads all that passes.
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

    /// A resolver that knows no name.
    struct Nowhere;

    impl Resolve for Nowhere {
        fn resolve(&self, _: Name) -> Resolving {
            let unknown: Result<Addrs, Box<dyn std::error::Error + Send + Sync>> =
                Err("it is not known".into());
            Box::pin(std::future::ready(unknown))
        }
    }

    #[tokio::test]
    async fn localhost_is_this_machine_whatever_its_resolver_says() {
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
        let http = http.dns_resolver(Arc::new(Nowhere)).build().unwrap();
        let answer = http.get(url).send().await.unwrap();
        assert_eq!(answer.status(), 204);
        let elsewhere = http.get("http://localhost.example/v1").send().await;
        assert!(elsewhere.is_err(), "all others go by the resolver");
    }
}
