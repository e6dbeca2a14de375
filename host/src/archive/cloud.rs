//! Archives over the network: S3 and all that speaks it, Google Cloud Storage, Azure.

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

use super::backend::MOST_BYTES;
use super::{Archive, place};

/// Time of one request, its answer included.
const REQUEST_TIME: Duration = Duration::from_secs(15);
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// After so long a request is not sent again.
const RETRY_TIME: Duration = Duration::from_secs(20);
const RETRIES: usize = 3;
/// Bytes of answers that are held at once, whatever somebody planted: those that are read at once
/// could each be as large as an entry may be.
const MOST_AT_ONCE: usize = 2 * MOST_BYTES;
/// Bytes that one permit stands for.
const PIECE: usize = 64 << 10;

/// The archive at a URL whose scheme is known; `rest` is what stands behind it.
pub(super) fn store<K: AsRef<str>, V: Into<String>>(
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
        Some(_) => return Err("`timeout` is a time such as 15s".to_owned()),
    };
    // It would be a part of no prefix, or of one that nobody is shown.
    if rest.contains(['?', '#']) {
        return Err("an archive's URL has neither `?` nor `#`".to_owned());
    }
    let connector = Connector {
        time,
        is_here: options
            .iter()
            .any(|(key, value)| key.contains("endpoint") && is_here(value)),
        room: Arc::new(Semaphore::new(MOST_AT_ONCE / PIECE)),
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
            // Not all that speaks S3 knows how to delete many at once.
            AmazonS3Builder::new().with_config(AmazonS3ConfigKey::DisableBulkDelete, "true")
        ),
        "gs" => built!(GoogleCloudStorageBuilder::new()),
        _ => built!(MicrosoftAzureBuilder::new()),
    };
    let store = store.map_err(|error| error.to_string())?;
    let prefix = rest.split_once('/').map_or("", |(_, prefix)| prefix);
    Ok(Archive::on(store, prefix, place::shown(url)))
}

/// Whether an address is plain http on this machine.
fn is_here(address: &str) -> bool {
    let url = address.parse::<reqwest::Url>();
    url.is_ok_and(|url| {
        url.scheme() == "http"
            && matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
    })
}

/// Makes connections by the TLS that baler has anyway.
#[derive(Debug)]
struct Connector {
    /// Of one request.
    time: Duration,
    /// The store is on this machine.
    is_here: bool,
    /// For answers, in pieces.
    room: Arc<Semaphore>,
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
            room: self.room.clone(),
        }))
    }
}

impl Connector {
    fn connections(&self) -> Result<reqwest::Client, Box<dyn std::error::Error + Send + Sync>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?;
        let tls = if self.is_here {
            // Never used. So a machine without certificates can have a store of its own.
            tls.with_root_certificates(rustls::RootCertStore::empty())
        } else {
            tls.with_platform_verifier()?
        };
        let mut http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls.with_no_client_auth())
            .user_agent(concat!("baler/", env!("CARGO_PKG_VERSION")))
            // A signature is for one address.
            .redirect(reqwest::redirect::Policy::none())
            // All retries are counted by the store.
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT_TIME)
            .timeout(self.time);
        if self.is_here {
            http = http.no_proxy();
        }
        Ok(http.build()?)
    }
}

/// Sends requests, and reads answers whole and not beyond a limit.
#[derive(Debug)]
struct Bounded {
    http: reqwest::Client,
    may_be_plain: bool,
    room: Arc<Semaphore>,
}

/// What there is of an answer, with the room that it takes for as long as it is held.
struct Received {
    bytes: Vec<u8>,
    room: Arc<Semaphore>,
    taken: Option<OwnedSemaphorePermit>,
}

impl Received {
    fn new(room: Arc<Semaphore>) -> Self {
        Self {
            bytes: Vec::new(),
            room,
            taken: None,
        }
    }

    /// Appends a piece; `None` where there is no room for it. It does not wait for any: whoever
    /// has the room may be waiting for this answer.
    fn append(&mut self, piece: &[u8]) -> Option<()> {
        let wanted = (self.bytes.len() + piece.len()).div_ceil(PIECE);
        let held = self
            .taken
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        if wanted > held {
            let more = u32::try_from(wanted - held).ok()?;
            let more = self.room.clone().try_acquire_many_owned(more).ok()?;
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
                "the address is plain http; allow that by `AWS_ALLOW_HTTP=true`, or name one with https",
            ));
        }
        let url: reqwest::Url = parts
            .uri
            .to_string()
            .parse()
            .map_err(|_| refused("the address is no URL"))?;
        let mut sent = reqwest::Request::new(parts.method, url);
        *sent.headers_mut() = parts.headers;
        *sent.body_mut() = Some(body.collect().await?.to_bytes().into());
        let mut answer = self.http.execute(sent).await.map_err(broken)?;
        let mut received = Received::new(self.room.clone());
        while let Some(piece) = answer.chunk().await.map_err(broken)? {
            if piece.len() > MOST_BYTES - received.bytes.len() {
                return Err(refused("the answer is too large to be an entry"));
            }
            received.append(&piece).ok_or_else(no_room)?;
        }
        let mut response = HttpResponse::new(Bytes::from_owner(received).into());
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers().clone();
        Ok(response)
    }
}

/// What broke, without the URL, which may be signed.
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

/// It is asked again a moment later.
fn no_room() -> HttpError {
    HttpError::new(
        HttpErrorKind::Interrupted,
        io::Error::other(format!(
            "answers of the store take more than {MOST_AT_ONCE} bytes at once; read fewer large entries at once"
        )),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_take_no_more_memory_together_than_there_is() {
        let room = Arc::new(Semaphore::new(2));
        let mut one = Received::new(room.clone());
        one.append(&[1; PIECE]).expect("there is room");
        one.append(&[2]).expect("there is room");
        let mut other = Received::new(room.clone());
        assert!(other.append(&[3]).is_none());
        assert!(other.bytes.is_empty());
        // It is held for as long as its bytes are.
        let mut bytes = Bytes::from_owner(one);
        let end = bytes.split_off(PIECE);
        drop(bytes);
        assert_eq!((&end[..], room.available_permits()), (&b"\x02"[..], 0));
        drop(end);
        other.append(&[3]).expect("there is room again");
        drop(other);
        assert_eq!(room.available_permits(), 2);
    }
}
