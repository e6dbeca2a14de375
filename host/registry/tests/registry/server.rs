//! A registry in memory, which does one thing wrong on demand.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use baler_registry::Digest;
use futures_util::stream;
use serde_json::{Value, json};

/// What the registry does wrong when it is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Fault {
    #[default]
    Nothing,
    /// It says that manifests have this digest.
    DigestHeader(String),
    /// It sends this instead of each manifest that is asked for by digest.
    Manifest(Vec<u8>),
    /// It sends this instead of layers.
    Layer(Vec<u8>),
    /// It sends this instead of layers, without saying how long it is.
    ChunkedLayer(Vec<u8>),
    /// It never stops sending what is at paths that contain this.
    Endless(&'static str),
    /// It answers at such paths after this time.
    Late(&'static str, Duration),
    /// It sends a byte now and then at such paths.
    Trickle(&'static str),
    /// It redirects such paths to there.
    Redirect(&'static str, String),
    /// It answers so at such paths.
    Status(&'static str, StatusCode, &'static str),
    /// It says so at such paths.
    Json(&'static str, Value),
    /// It names this server of tokens.
    Realm(String),
    /// It lets uploads go on there.
    Upload(String),
}

/// What the registry demands.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Demand {
    #[default]
    Nothing,
    /// The name `me` and the password `hunter2`.
    Password,
    /// A token, which it makes of them, for the repository and what is done.
    Token,
}

#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) blobs: BTreeMap<String, Vec<u8>>,
    /// By tag and by digest: media type and content.
    pub(crate) manifests: BTreeMap<String, (String, Vec<u8>)>,
    pub(crate) fault: Fault,
    pub(crate) demand: Demand,
    /// Whether it keeps lists of referrers.
    pub(crate) lists_referrers: bool,
    /// Entries of a page of tags; 0: all.
    pub(crate) page: usize,
    /// Method, path, and the header with credentials.
    pub(crate) requests: Vec<(String, String, Option<String>)>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Server {
    pub(crate) held: Arc<Mutex<Held>>,
    /// Bytes of endless answers so far.
    pub(crate) sent: Arc<AtomicUsize>,
    pub(crate) port: u16,
}

impl Server {
    /// Starts a registry that keeps lists of referrers and does all right.
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port");
        let server = Self {
            port: listener.local_addr().expect("an address").port(),
            ..Self::default()
        };
        server.set(|held| held.lists_referrers = true);
        let router = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut Held)) {
        change(&mut self.held.lock().expect("unpoisoned"));
    }

    pub(crate) fn fail(&self, fault: Fault) {
        self.set(|held| held.fault = fault);
    }

    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

async fn answer(
    State(server): State<Server>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let authorization = headers.get("authorization");
    let authorization = authorization.map(|value| value.to_str().expect("ASCII").to_owned());
    let path = uri.path();
    let (fault, waiting) = {
        let mut held = server.held.lock().expect("unpoisoned");
        let request = (method.to_string(), uri.to_string(), authorization.clone());
        held.requests.push(request);
        let waiting = match &held.fault {
            Fault::Late(part, time) if path.contains(part) => *time,
            _ => Duration::ZERO,
        };
        (held.fault.clone(), waiting)
    };
    tokio::time::sleep(waiting).await;
    let chunk = |sent: Arc<AtomicUsize>, chunk: &'static [u8], pause| {
        Body::from_stream(stream::unfold(sent, move |sent| async move {
            tokio::time::sleep(pause).await;
            sent.fetch_add(chunk.len(), Ordering::Relaxed);
            Some((Ok::<_, std::io::Error>(chunk), sent))
        }))
    };
    match fault {
        Fault::Endless(part) if path.contains(part) => {
            return chunk(server.sent, &[b' '; 64 << 10], Duration::ZERO).into_response();
        }
        Fault::Trickle(part) if path.contains(part) => {
            return chunk(server.sent, b" ", Duration::from_millis(20)).into_response();
        }
        Fault::Redirect(part, to) if path.contains(part) => {
            return (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response();
        }
        Fault::Status(part, status, text) if path.contains(part) => {
            return (status, text).into_response();
        }
        Fault::Json(part, value) if path.contains(part) => {
            return value.to_string().into_response();
        }
        _ => {}
    }
    let mut held = server.held.lock().expect("unpoisoned");
    // `me:hunter2`
    let has_password = authorization.as_deref() == Some("Basic bWU6aHVudGVyMg==");
    if path == "/token" {
        let Some(query) = uri.query().filter(|_| has_password) else {
            return StatusCode::UNAUTHORIZED.into_response();
        };
        assert!(query.ends_with("&service=tests"), "{query}");
        return json!({"token": token(query.contains("push"))})
            .to_string()
            .into_response();
    }
    let is_read = matches!(method, Method::GET | Method::HEAD);
    // Some registries say that a token allows too little, and do not ask for another.
    let is_pulling = authorization.as_deref() == Some(&*format!("Bearer {}", token(false)));
    if held.demand == Demand::Token && is_pulling && !is_read {
        return StatusCode::FORBIDDEN.into_response();
    }
    let demand = match held.demand {
        Demand::Password if !has_password => Some("Basic realm=\"tests\"".to_owned()),
        Demand::Token => {
            let accepted = [token(true), token(!is_read)];
            let token = authorization
                .as_deref()
                .and_then(|it| it.strip_prefix("Bearer "));
            let is_accepted = token.is_some_and(|token| accepted.iter().any(|it| it == token));
            let realm = match &held.fault {
                Fault::Realm(realm) => realm.clone(),
                _ => format!("http://{}/token", server.host()),
            };
            let demand = format!("Bearer realm=\"{realm}\",service=\"tests\"");
            (!is_accepted).then_some(demand)
        }
        _ => None,
    };
    if let Some(demand) = demand {
        return (StatusCode::UNAUTHORIZED, [("www-authenticate", demand)]).into_response();
    }
    let missing = StatusCode::NOT_FOUND.into_response();
    let Some(path) = path.strip_prefix("/v2/acme/keep-newest/") else {
        return missing;
    };
    let (kind, name) = path.split_once('/').unwrap_or_default();
    match (kind, is_read) {
        ("tags", true) => tags(&held, &uri),
        ("referrers", true) if held.lists_referrers => referrers(&held, name),
        ("blobs", true) => match (held.blobs.get(name), &held.fault) {
            (Some(_), Fault::Layer(other)) => other.clone().into_response(),
            (Some(_), Fault::ChunkedLayer(other)) => {
                let chunks = [Ok::<_, std::io::Error>(other.clone())];
                Body::from_stream(stream::iter(chunks)).into_response()
            }
            (Some(blob), _) => blob.clone().into_response(),
            (None, _) => missing,
        },
        ("blobs", false) if name == "uploads/" => {
            let place = match &held.fault {
                Fault::Upload(place) => place.clone(),
                _ => "/v2/acme/keep-newest/blobs/uploads/1?state=x".to_owned(),
            };
            (StatusCode::ACCEPTED, [("location", place)]).into_response()
        }
        ("blobs", false) => {
            let digest = Digest::of(&body).to_string();
            assert_eq!(
                uri.query(),
                Some(&*format!("state=x&digest={}", digest.replace(':', "%3A")))
            );
            held.blobs.insert(digest, body.to_vec());
            StatusCode::CREATED.into_response()
        }
        ("manifests", true) => {
            let Some((media_type, content)) = held.manifests.get(name) else {
                return missing;
            };
            let mut content = content.clone();
            let mut digest = Digest::of(&content).to_string();
            match &held.fault {
                Fault::DigestHeader(other) => digest.clone_from(other),
                Fault::Manifest(other) if name.starts_with("sha256:") => {
                    content.clone_from(other);
                    digest = Digest::of(&content).to_string();
                }
                _ => {}
            }
            let headers = [
                ("content-type", media_type),
                ("docker-content-digest", &digest),
            ];
            (headers, content).into_response()
        }
        ("manifests", false) => {
            let media_type = headers["content-type"].to_str().expect("ASCII").to_owned();
            let content = (media_type, body.to_vec());
            held.manifests
                .insert(Digest::of(&body).to_string(), content.clone());
            held.manifests.insert(name.to_owned(), content);
            let manifest: Value = serde_json::from_slice(&body).expect("JSON");
            let mut answer = StatusCode::CREATED.into_response();
            if let Some(subject) = manifest["subject"]["digest"].as_str()
                && held.lists_referrers
            {
                let subject = subject.parse().expect("a header");
                answer.headers_mut().insert("oci-subject", subject);
            }
            answer
        }
        _ => missing,
    }
}

/// A token that allows pulling, or also pushing.
fn token(may_push: bool) -> String {
    format!("token-{may_push}")
}

fn tags(held: &Held, uri: &Uri) -> Response {
    let tags: Vec<&String> = held
        .manifests
        .keys()
        .filter(|at| !at.contains(':'))
        .collect();
    let from = uri.query().and_then(|query| query.strip_prefix("from="));
    let from: usize = from.map_or(0, |from| from.parse().expect("a number"));
    let to = if held.page == 0 {
        tags.len()
    } else {
        tags.len().min(from + held.page)
    };
    let body = json!({"name": "acme/keep-newest", "tags": tags[from..to]}).to_string();
    if to == tags.len() {
        return body.into_response();
    }
    let next = format!("</v2/acme/keep-newest/tags/list?from={to}>; rel=\"next\"");
    ([("link", next)], body).into_response()
}

fn referrers(held: &Held, subject: &str) -> Response {
    let mut found = Vec::new();
    for (digest, (media_type, content)) in &held.manifests {
        let manifest: Value = serde_json::from_slice(content).expect("JSON");
        if digest.starts_with("sha256:") && manifest["subject"]["digest"] == subject {
            found.push(
                json!({"mediaType": media_type, "digest": digest, "size": content.len(),
                "artifactType": manifest["artifactType"]}),
            );
        }
    }
    let index = json!({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": found});
    index.to_string().into_response()
}
