//! Archives over the network: stores with the S3 protocol, Google Cloud Storage, Azure.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::backend::MAX_ENTRY_BYTES;
use crate::{Archive, location};

/// Time limit of one request, including its response.
const REQUEST_TIME: Duration = Duration::from_secs(15);
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// After this time a request is not retried.
const RETRY_TIME: Duration = Duration::from_secs(20);
const RETRIES: usize = 3;
/// The most bytes of all responses that are in memory at once. Without this limit each response could be as
/// large as an entry may be, if an attacker stored such objects.
const MAX_RESPONSE_BYTES: usize = 2 * MAX_ENTRY_BYTES;
/// Bytes per permit of the semaphore.
const PIECE: usize = 64 << 10;

/// Opens the archive at a URL of a supported scheme; `rest` is the part after `://`.
pub(crate) fn store<K: AsRef<str>, V: Into<String>>(
    scheme: &str,
    url: &str,
    rest: &str,
    options: impl IntoIterator<Item = (K, V)>,
) -> Result<Archive, String> {
    let options: Vec<(String, String)> = options
        .into_iter()
        .map(|(key, value)| (key.as_ref().to_ascii_lowercase(), value.into()))
        .collect();
    let time = options.iter().find(|(key, _)| key == "timeout");
    let time = match time.map(|(_, typed)| humantime::parse_duration(typed)) {
        None => REQUEST_TIME,
        Some(Ok(time)) if !time.is_zero() => time,
        Some(_) => return Err("expected `timeout` to be a time such as 15s".to_owned()),
    };
    // Neither would become a part of the prefix, or a part that `location::without_secrets` hides.
    if rest.contains(['?', '#']) {
        return Err("an archive's URL has neither `?` nor `#`".to_owned());
    }
    let connector = Connector {
        time,
        is_here: options
            .iter()
            .any(|(key, value)| key.contains("endpoint") && is_here(value)),
        memory: Arc::new(Semaphore::new(MAX_RESPONSE_BYTES / PIECE)),
    };
    let retry = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(3),
            base: 2.0,
        },
        max_retries: RETRIES,
        retry_timeout: RETRY_TIME,
    };
    macro_rules! built {
        ($builder:expr) => {{
            let mut builder = $builder.with_url(url);
            for (key, value) in options {
                if let Ok(key) = key.parse() {
                    builder = builder.with_config(key, value);
                }
            }
            builder
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
        }};
    }
    let store = match scheme {
        "s3" => built!(
            // Not every S3 store supports bulk deletion.
            AmazonS3Builder::new().with_config(AmazonS3ConfigKey::DisableBulkDelete, "true")
        ),
        "gs" => built!(GoogleCloudStorageBuilder::new()),
        _ => built!(MicrosoftAzureBuilder::new()),
    };
    let store = store.map_err(|error| error.to_string())?;
    let prefix = rest.split_once('/').map_or("", |(_, prefix)| prefix);
    Ok(Archive::on(store, prefix, location::without_secrets(url)))
}

/// Whether an address is plain http on this machine.
fn is_here(address: &str) -> bool {
    let url = address.parse::<reqwest::Url>();
    url.is_ok_and(|url| {
        url.scheme() == "http"
            && matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
    })
}

/// Creates HTTP clients with the TLS library that baler already uses.
#[derive(Debug)]
struct Connector {
    /// Time limit of one request.
    time: Duration,
    /// Whether the store is on this machine.
    is_here: bool,
    /// Permits for the memory of responses, one for each [`PIECE`].
    memory: Arc<Semaphore>,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let may_be_plain = options.get_config_value(&ClientConfigKey::AllowHttp);
        let http = self
            .connections()
            .map_err(|source| object_store::Error::Generic {
                store: "HTTP",
                source,
            })?;
        Ok(HttpClient::new(Bounded {
            http,
            may_be_plain: self.is_here || may_be_plain.as_deref() == Some("true"),
            memory: self.memory.clone(),
        }))
    }
}

impl Connector {
    fn connections(&self) -> Result<reqwest::Client, Box<dyn std::error::Error + Send + Sync>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?;
        let tls = if self.is_here {
            // Never used. A machine without certificates can thus run a store for itself.
            tls.with_root_certificates(rustls::RootCertStore::empty())
        } else {
            tls.with_platform_verifier()?
        };
        let mut http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls.with_no_client_auth())
            .user_agent(concat!("baler/", env!("CARGO_PKG_VERSION")))
            // A signature is valid for one address only.
            .redirect(reqwest::redirect::Policy::none())
            // The store does all retries, and counts them.
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT_TIME)
            .timeout(self.time);
        if self.is_here {
            http = http.no_proxy();
        }
        Ok(http.build()?)
    }
}

/// Sends requests, and reads whole responses up to a limit.
#[derive(Debug)]
struct Bounded {
    http: reqwest::Client,
    may_be_plain: bool,
    memory: Arc<Semaphore>,
}

/// The received part of a response, with its memory permits.
struct Received {
    bytes: Vec<u8>,
    memory: Arc<Semaphore>,
    taken: Option<OwnedSemaphorePermit>,
}

impl Received {
    fn new(memory: Arc<Semaphore>) -> Self {
        Self {
            bytes: Vec::new(),
            memory,
            taken: None,
        }
    }

    /// Appends a piece; `None` if no permit is free. It does not wait for one, because their holder may be
    /// waiting for this response.
    fn append(&mut self, piece: &[u8]) -> Option<()> {
        let wanted = (self.bytes.len() + piece.len()).div_ceil(PIECE);
        let held = self
            .taken
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        if wanted > held {
            let more = u32::try_from(wanted - held).ok()?;
            let more = self.memory.clone().try_acquire_many_owned(more).ok()?;
            match &mut self.taken {
                Some(taken) => taken.merge(more),
                none => *none = Some(more),
            }
        }
        self.bytes.extend_from_slice(piece);
        Some(())
    }
}

impl AsRef<[u8]> for Received {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[async_trait]
impl HttpService for Bounded {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let refused =
            |what: &'static str| HttpError::new(HttpErrorKind::Unknown, io::Error::other(what));
        if parts.uri.scheme_str() != Some("https") && !self.may_be_plain {
            return Err(refused(
                "expected an https address, found plain http; use https, or allow http with `AWS_ALLOW_HTTP=true`",
            ));
        }
        let url: reqwest::Url = parts
            .uri
            .to_string()
            .parse()
            .map_err(|_| refused("the address is not a URL"))?;
        let mut sent = reqwest::Request::new(parts.method, url);
        *sent.headers_mut() = parts.headers;
        *sent.body_mut() = Some(body.collect().await?.to_bytes().into());
        let mut answer = self.http.execute(sent).await.map_err(broken)?;
        let mut received = Received::new(self.memory.clone());
        while let Some(piece) = answer.chunk().await.map_err(broken)? {
            if piece.len() > MAX_ENTRY_BYTES - received.bytes.len() {
                return Err(refused(
                    "the response is larger than an entry of an archive may be",
                ));
            }
            received.append(&piece).ok_or_else(out_of_memory)?;
        }
        let mut response = HttpResponse::new(Bytes::from_owner(received).into());
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers().clone();
        Ok(response)
    }
}

/// Converts an error, without the URL, which may contain a signature.
fn broken(error: reqwest::Error) -> HttpError {
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else {
        HttpErrorKind::Interrupted
    };
    HttpError::new(kind, error.without_url())
}

/// The error for a response that exceeds the memory limit. The store retries after it.
fn out_of_memory() -> HttpError {
    HttpError::new(
        HttpErrorKind::Interrupted,
        io::Error::other(format!(
            "responses of the store take more than {MAX_RESPONSE_BYTES} bytes at once; read fewer large entries at once"
        )),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_share_the_memory_limit() {
        let memory = Arc::new(Semaphore::new(2));
        let mut one = Received::new(memory.clone());
        one.append(&[1; PIECE]).expect("memory is free");
        one.append(&[2]).expect("memory is free");
        let mut other = Received::new(memory.clone());
        assert!(other.append(&[3]).is_none());
        assert!(other.bytes.is_empty());
        // It is held for as long as its bytes are.
        let mut bytes = Bytes::from_owner(one);
        let end = bytes.split_off(PIECE);
        drop(bytes);
        assert_eq!((&end[..], memory.available_permits()), (&b"\x02"[..], 0));
        drop(end);
        other.append(&[3]).expect("memory is free again");
        drop(other);
        assert_eq!(memory.available_permits(), 2);
    }
}
