//! Proxies, upstreams and clients.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, Response};
use baler_host::{Host, Strategy, view::Window};
use baler_http::Listener;
use baler_proxy::{Exchange, Proxy, ProxyBuilder, Upstreams};
use bytes::Bytes;
use http_body_util::BodyExt as _;

pub(crate) fn anywhere() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

/// A request as an upstream got it.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) line: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// An upstream that answers what it is told to, and remembers what it got.
#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    pub(crate) got: Arc<Mutex<Vec<Got>>>,
}

impl Upstream {
    pub(crate) fn last(&self) -> Got {
        self.got
            .lock()
            .expect("no panic")
            .last()
            .expect("a request")
            .clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.got.lock().expect("no panic").len()
    }
}

/// Starts an upstream. `answer` gets the number of the request, from 0, and its body.
pub(crate) fn upstream(
    answer: impl Fn(usize, &Bytes) -> Response<Body> + Clone + Send + Sync + 'static,
) -> Upstream {
    let listener = Listener::bind(anywhere(), None).expect("a free port");
    let upstream = Upstream {
        address: listener.address(),
        got: Arc::default(),
    };
    let got = Arc::clone(&upstream.got);
    let router = Router::new().fallback(move |request: Request<Body>| {
        let (got, answer) = (Arc::clone(&got), answer.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = body
                .collect()
                .await
                .map(|body| body.to_bytes())
                .unwrap_or_default();
            let number = {
                let mut got = got.lock().expect("no panic");
                got.push(Got {
                    line: format!("{} {}", parts.method, parts.uri),
                    headers: parts.headers,
                    body: body.clone(),
                });
                got.len() - 1
            };
            answer(number, &body)
        }
    });
    tokio::spawn(listener.serve(router, Proxy::limits(), std::future::pending()));
    upstream
}

/// Begins a proxy whose upstreams all are at one address.
pub(crate) fn builder(upstream: SocketAddr, at: u32, budget: u32) -> ProxyBuilder {
    let host = Arc::new(Host::builder().build().expect("a host"));
    let window = Window::new(host, [Strategy::digest()], at, budget).expect("a window");
    let names = ["anthropic", "openai", "gemini"];
    let upstreams = names.into_iter().fold(Upstreams::default(), |all, name| {
        let text = format!("{name}=http://{upstream}");
        all.with(text.parse().expect("an upstream"))
    });
    Proxy::builder(window, upstreams)
}

pub(crate) type Exchanges = Arc<Mutex<Vec<Exchange>>>;

/// Starts a proxy. Returns its base URL and what passes through it.
pub(crate) fn start(builder: ProxyBuilder) -> (String, Exchanges) {
    let exchanges = Exchanges::default();
    let told = Arc::clone(&exchanges);
    let builder =
        builder.on_exchange(move |exchange| told.lock().expect("no panic").push(exchange));
    let proxy = builder.bind(anywhere()).expect("a proxy");
    let url = format!("http://{}", proxy.address());
    tokio::spawn(proxy.serve(std::future::pending()));
    (url, exchanges)
}

/// A client that does nothing by itself.
pub(crate) fn client() -> reqwest::Client {
    let address = "http://127.0.0.1:9".parse().expect("a URL");
    let builder = baler_models::clients::connections(&address, false).expect("connections");
    builder.build().expect("a client")
}

/// Posts a request of OpenAI Chat. Returns the answer, whose body is still to be read.
pub(crate) async fn ask(url: &str, body: impl Into<reqwest::Body>) -> reqwest::Response {
    let request = client()
        .post(format!("{url}/v1/chat/completions"))
        .body(body);
    request.send().await.expect("an answer")
}

/// A folder that is gone with the test.
pub(crate) fn folder() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = Path::new(folder.path()).join("views");
    (folder, path)
}

/// A request of OpenAI Chat with this many turns about a ship.
pub(crate) fn chat(turns: usize, name: &str) -> String {
    let turns: Vec<String> = (0..turns)
        .map(|turn| {
            format!(
                r#"{{"role": "user", "content": "{name}: leg {turn}, どの港へ?"}}, {{"role": "assistant", "content": "Leg {turn} of {name} leads to harbour {}, over {} miles of open water with wind from the west.{}"}}"#,
                turn * 7 % 31,
                turn * 37 % 911,
                " The watch changes at every bell, and the log says so.".repeat(6)
            )
        })
        .collect();
    format!(
        r#"{{"model": "gpt-4o", "extra": {{"kept": [1, 2]}}, "messages": [{{"role": "system", "content": "You navigate."}}, {{"role": "user", "content": "Bring {name} home, and never enter harbour 13."}}, {}, {{"role": "user", "content": "What is next?"}}]}}"#,
        turns.join(", ")
    )
}
