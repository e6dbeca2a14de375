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

mod agent;
mod answers;
mod check;
mod script;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};
use baler_host::conversation::ReadOptions;
use baler_host::{Conversation, Format, Host};
use baler_http::{Listener, ServerLimits};
use http_body_util::BodyExt as _;

pub use agent::work;
pub use check::{Report, Usage};
pub use script::Script;

use answers::Answer;
use check::State;

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
}

/// What a provider has seen.
#[derive(Debug, Clone)]
pub struct Seen(Arc<App>);

impl Seen {
    /// Returns what was seen so far.
    #[must_use]
    pub fn report(&self) -> Report {
        self.0
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .report
            .clone()
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
    let path = request.uri().path().to_owned();
    let Some(format) = format_of(&path) else {
        return json(
            StatusCode::OK,
            r#"{"input_tokens": 10, "totalTokens": 10, "data": []}"#.to_owned(),
        );
    };
    let is_stream_path = path.ends_with(":streamGenerateContent");
    let Ok(body) = request.into_body().collect().await else {
        return json(StatusCode::BAD_REQUEST, "{}".to_owned());
    };
    let body = body.to_bytes();
    let value: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let is_stream = is_stream_path || value["stream"] == true;
    let read = app
        .host
        .read_with(body.to_vec(), ReadOptions::default().with_format(format));
    let answer = match read {
        Ok(conversation) => step(&app, &conversation, &value),
        Err(error) => {
            app.state
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .refuse(format!("unreadable: {error}"));
            Answer::Error("the request is no conversation".to_owned())
        }
    };
    let (status, is_events, text) = answers::write(format, &answer, is_stream);
    let mut response = json(status, text);
    if is_events {
        let events = header::HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(header::CONTENT_TYPE, events);
    }
    response
}

fn step(app: &App, conversation: &Conversation, body: &serde_json::Value) -> Answer {
    let mut state = app.state.lock().unwrap_or_else(PoisonError::into_inner);
    state.step(&app.script, conversation, body)
}

fn json(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
