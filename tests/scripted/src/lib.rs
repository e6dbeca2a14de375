//! A provider that plays a script, for tests of what stands between an agent and its provider.
//!
//! It has the model call a tool again and again, and checks each request as a real provider would, and more strictly:
//!
//! - the rules of the wire format, by baler's own validation;
//! - a window, beyond which a request is refused in the provider's words;
//! - thinking, which is refused behind other messages than those that it was made behind;
//! - the output of the newest call, which must be in the next request whole, and the task, which must be in all of them.
//!
//! It counts what a provider's cache would have served: the messages that an earlier request began with.
//!
//! A client chooses by the header `x-scripted` how a request is answered: `busy` (refused with `Retry-After`, until it is sent
//! again), `refused`, `gzip`, or `slow` (the events of a stream one after the other).

mod agent;
mod answers;
mod check;
mod manner;
mod request;
mod script;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use baler_host::conversation::ReadOptions;
use baler_host::{Format, Host};
use baler_http::{Listener, ServerLimits};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

pub use agent::work;
pub use check::{Report, Usage};
pub use script::Script;

use answers::{Answer, Written};
use check::State;
use manner::Manner;

/// A scripted provider, bound to an address.
#[derive(Debug)]
pub struct Provider {
    listener: Listener,
    app: Arc<App>,
}

#[derive(Debug)]
struct App {
    host: Host,
    script: Script,
    state: Mutex<State>,
    /// Whether the last request that was to be sent again was refused.
    was_busy: AtomicBool,
}

impl App {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a provider has seen.
#[derive(Debug, Clone)]
pub struct Seen(Arc<App>);

impl Seen {
    /// Returns what was seen so far.
    #[must_use]
    pub fn report(&self) -> Report {
        self.0.state().report.clone()
    }
}

impl Provider {
    /// Binds a provider to an address; port 0 selects a free one.
    ///
    /// # Errors
    /// The address cannot be bound, or no host can be made.
    pub fn bind(script: Script, address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self {
            listener: Listener::bind(address, None)?,
            app: Arc::new(App {
                host: Host::builder().build()?,
                script,
                state: Mutex::default(),
                was_busy: AtomicBool::new(false),
            }),
        })
    }

    /// Returns its address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Returns what tells what it has seen.
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen(Arc::clone(&self.app))
    }

    /// Serves until `stop` completes.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let app = self.app;
        let router = Router::new().fallback(move |request| answer(Arc::clone(&app), request));
        let limits = ServerLimits {
            grace: Duration::from_secs(1),
            ..ServerLimits::default()
        };
        self.listener.serve(router, limits, stop).await;
    }
}

/// Returns the format of requests to a path.
fn format_of(path: &str) -> Option<Format> {
    let ends = [
        ("/chat/completions", Format::OpenAiChat),
        ("/responses", Format::OpenAiResponses),
        ("/messages", Format::Anthropic),
        (":generateContent", Format::Gemini),
        (":streamGenerateContent", Format::Gemini),
    ];
    ends.into_iter()
        .find(|(end, _)| path.ends_with(end))
        .map(|(_, format)| format)
}

async fn answer(app: Arc<App>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let manner = Manner::of(&parts.headers);
    let body = body.collect().await;
    let body = body.map(http_body_util::Collected::to_bytes);
    let written = match body {
        Ok(body) => written(&app, parts.uri.path(), &body, manner),
        Err(_) => answers::of_status(StatusCode::BAD_REQUEST, &json!({})),
    };
    manner.respond(written, move || app.state().report.broken_off += 1)
}

fn written(app: &App, path: &str, body: &[u8], manner: Manner) -> Written {
    let Some(format) = format_of(path) else {
        // Lists are empty, and counts show that all of a request came.
        let tokens = body.len() / 4;
        let counted = json!({"object": "response.input_tokens", "input_tokens": tokens, "totalTokens": tokens, "data": []});
        return answers::of_status(StatusCode::OK, &counted);
    };
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let is_stream = path.ends_with(":streamGenerateContent") || value["stream"] == true;
    let answer = match manner {
        Manner::Busy if !app.was_busy.fetch_not(Ordering::Relaxed) => Answer::Busy,
        Manner::Refused => Answer::Error("no cellar is called Δ, 蔵 or قبو".to_owned()),
        _ => step(app, format, body, &value),
    };
    answers::write(format, &answer, is_stream)
}

fn step(app: &App, format: Format, body: &[u8], value: &Value) -> Answer {
    let options = ReadOptions::default().with_format(format);
    match app.host.read_with(body.to_vec(), options) {
        Ok(conversation) => app.state().step(&app.script, &conversation, value),
        Err(error) => {
            app.state().refuse(format!("unreadable: {error}"));
            Answer::Error("the request is no conversation".to_owned())
        }
    }
}
