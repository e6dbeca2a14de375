//! A provider that counts what its cache would have served, and what it would have refused.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, header};
use baler_host::conversation::document::Prefix;
use baler_host::{Conversation, Format, Host};
use baler_http::Listener;
use baler_proxy::Proxy;
use http_body_util::BodyExt as _;
use tokio::task::JoinHandle;

use crate::session::read;

/// Tokens below which providers cache nothing.
const LEAST: u32 = 1_024;

/// A request as the provider counts it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    /// All its tokens, as baler counts them.
    pub(crate) tokens: u32,
    /// Those that an earlier request began with.
    pub(crate) cached: u32,
    /// Whether it does not begin with the whole request before: it was compacted anew.
    pub(crate) is_compacted: bool,
    /// Whether it breaks a rule of its format.
    pub(crate) is_broken: bool,
}

impl Counted {
    /// Returns what it costs, in tokens of input without a cache.
    pub(crate) fn billed(&self) -> f64 {
        0.1 * f64::from(self.cached) + 1.25 * f64::from(self.tokens - self.cached)
    }
}

/// What requests of a session began with.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// With the tokens of the request that this was the whole of, if there was one.
    prefixes: HashMap<Prefix, Option<u32>>,
    /// Number of messages of the request before.
    before: usize,
}

impl Cache {
    /// Counts a request. Messages have no tokens of their own: where an earlier request went on after what is known, they count by
    /// their bytes.
    pub(crate) fn count(&mut self, request: &Conversation) -> Counted {
        let prefixes = request.prefixes();
        let known = prefixes
            .iter()
            .rposition(|prefix| self.prefixes.contains_key(prefix))
            .unwrap_or(0);
        let bytes = |count: usize| -> usize {
            let messages = request.all_messages().iter().take(count);
            messages.map(|message| request.raw(message).len()).sum()
        };
        let (held, all) = (bytes(known), bytes(prefixes.len()).max(1));
        let tokens = request.tokens();
        let overhead = request.overhead().min(tokens);
        let of_messages = f64::from(tokens - overhead) * held as f64 / all as f64;
        let whole = prefixes
            .get(known)
            .and_then(|prefix| self.prefixes.get(prefix));
        let cached = match (known, whole) {
            (0, _) => 0,
            (_, Some(Some(whole))) => *whole,
            _ => overhead + of_messages as u32,
        };
        let is_compacted = known < self.before;
        self.before = prefixes.len().saturating_sub(1);
        let last = prefixes.last().copied();
        for prefix in prefixes.into_iter().skip(1) {
            let whole = self.prefixes.entry(prefix).or_default();
            if Some(prefix) == last {
                *whole = Some(tokens);
            }
        }
        Counted {
            tokens,
            cached: if cached < LEAST {
                0
            } else {
                cached.min(tokens)
            },
            is_compacted,
            is_broken: request.is_broken(),
        }
    }
}

/// The provider of one session, which serves until it is dropped.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    serving: JoinHandle<()>,
}

/// What a provider has seen.
#[derive(Default)]
struct Seen {
    cache: Cache,
    counted: Vec<Counted>,
    last: Option<Conversation>,
    /// Why a request could not be read.
    unread: Option<String>,
}

impl Upstream {
    /// Starts a provider that reads requests in a format.
    pub(crate) fn start(host: &Arc<Host>, format: Format) -> anyhow::Result<Self> {
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0)), None)?;
        let address = listener.address();
        let seen = Arc::<Mutex<Seen>>::default();
        let (host, told) = (Arc::clone(host), Arc::clone(&seen));
        let router = Router::new().fallback(move |request: Request<Body>| {
            let (host, told) = (Arc::clone(&host), Arc::clone(&told));
            answer(host, told, format, request)
        });
        let serving = listener.serve(router, Proxy::limits(), std::future::pending());
        Ok(Self {
            address,
            seen,
            serving: tokio::spawn(serving),
        })
    }

    /// Returns the requests so far.
    pub(crate) fn counted(&self) -> Vec<Counted> {
        lock(&self.seen).counted.clone()
    }

    /// Returns the newest request, which has to be the `count`th.
    pub(crate) fn newest(&self, count: usize) -> anyhow::Result<Conversation> {
        let seen = lock(&self.seen);
        if let Some(unread) = &seen.unread {
            anyhow::bail!("the upstream cannot read a request: {unread}");
        }
        let number = seen.counted.len();
        match &seen.last {
            Some(last) if number == count => Ok(last.clone()),
            _ => anyhow::bail!("{number} requests arrived at the upstream, and {count} were sent"),
        }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(
    host: Arc<Host>,
    seen: Arc<Mutex<Seen>>,
    format: Format,
    request: Request<Body>,
) -> Response<Body> {
    let body = request.into_body().collect().await;
    let body = body.map(|body| body.to_bytes()).unwrap_or_default();
    let read = read(&host, body, format);
    let mut seen = lock(&seen);
    match read {
        Ok(request) => {
            let counted = seen.cache.count(&request);
            seen.counted.push(counted);
            seen.last = Some(request);
        }
        Err(error) => seen.unread = Some(error.to_string()),
    }
    let mut response = Response::new(Body::from("{}"));
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

#[cfg(test)]
mod tests {
    use baler_host::Host;

    use super::*;

    fn request(texts: &[&str]) -> Conversation {
        let host = Host::builder().build().expect("a host");
        let messages: Vec<_> = texts
            .iter()
            .map(|text| serde_json::json!({"role": "user", "content": text}))
            .collect();
        let document = serde_json::json!({"model": "gpt-4o", "messages": messages}).to_string();
        host.read(document).expect("reads")
    }

    #[test]
    fn the_cache_serves_what_an_earlier_request_began_with_from_1024_tokens_on() {
        let long = "The tide is low in the bay. ".repeat(400);
        let mut cache = Cache::default();
        let first = cache.count(&request(&[&long]));
        assert_eq!((first.cached, first.is_compacted), (0, false));
        let next = cache.count(&request(&[&long, "Go on."]));
        assert!(!next.is_compacted);
        assert!(next.cached >= first.tokens - 20 && next.cached < next.tokens);
        let other = cache.count(&request(&["A summary.", "Go on."]));
        assert_eq!((other.cached, other.is_compacted), (0, true));
        let short = cache.count(&request(&["A summary.", "Go on.", "Further."]));
        assert_eq!((short.cached, short.is_compacted), (0, false));
        // A message that stays does not count when the ones before it changed.
        assert_eq!(cache.count(&request(&["New.", &long])).cached, 0);
    }

    #[test]
    fn what_is_cached_costs_a_tenth_and_the_rest_a_quarter_more() {
        let counted = Counted {
            tokens: 3_000,
            cached: 2_000,
            is_compacted: false,
            is_broken: false,
        };
        assert!((counted.billed() - 1_450.0).abs() < 1e-6);
    }
}
