//! What is recorded of the requests that pass: sizes and counts, never text.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use baler_host::{Conversation, Format};
use baler_models::clients::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was done with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It went on as it came.
    Passed,
    /// It went on as an earlier compaction shows it.
    Shown,
    /// It was compacted.
    Compacted,
}

impl Action {
    /// Returns the name in headers and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Shown => "shown",
            Self::Compacted => "compacted",
        }
    }
}

/// One request and its answer. As JSON it holds no text of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Exchange {
    /// Seconds since 1970.
    pub time: u64,
    /// Which session the request belongs to, as well as can be told: the program's own id, or a hash of how it begins.
    pub session: String,
    /// The run that the proxy is of, if whoever records it says so.
    pub run: Option<String>,
    /// The program, as it calls itself.
    pub program: String,
    /// The upstream.
    pub upstream: String,
    /// The wire format.
    pub format: Format,
    /// The model, as the request names it.
    pub model: String,
    /// What was done.
    pub action: Action,
    /// Why the request was not compacted although it was due, or why it passed untouched.
    pub why: Option<String>,
    /// Whether the proxy only observed: then it went on as it came, and this says what would have been done.
    pub shadow: bool,
    /// Whether this was sent after the provider refused a larger one.
    pub again: bool,
    /// Number of messages of the history, and of those sent.
    pub messages: [usize; 2],
    /// Tokens of the whole request, and of the one that was sent, as baler counts them; 0 if they were not counted.
    pub tokens: [u32; 2],
    /// Bytes of both.
    pub bytes: [usize; 2],
    /// Microseconds that baler took before the request went on.
    pub added_us: u64,
    /// Status of the answer; 0 if there was none, since the client left before.
    pub status: u16,
    /// What the answer says that the request used.
    pub usage: Option<Usage>,
    /// The receipt of the compaction, if one was tried.
    pub receipt: Option<Value>,
}

impl Exchange {
    /// Returns the references under which the archive holds what the compaction removed.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        let receipt = self.receipt.iter();
        let lists = receipt.flat_map(|receipt| ["archive", "originals"].map(|name| &receipt[name]));
        let entries = lists.filter_map(Value::as_array).flatten();
        entries.filter_map(|entry| entry["reference"].as_str())
    }
}

/// Is told of each exchange once its answer has ended.
pub(crate) type Observer = Arc<dyn Fn(Exchange) + Send + Sync>;

pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Headers in which programs name their session.
const SESSION_HEADERS: [HeaderName; 5] = [
    HeaderName::from_static("x-claude-code-session-id"),
    HeaderName::from_static("session-id"),
    HeaderName::from_static("session_id"),
    HeaderName::from_static("x-opencode-session"),
    HeaderName::from_static("x-session-id"),
];

/// Returns the name that a program gives to its session. It is only shown, and decides nothing: programs may name what they
/// like.
pub(crate) fn named(headers: &HeaderMap) -> Option<String> {
    let named = SESSION_HEADERS
        .iter()
        .find_map(|name| headers.get(name)?.to_str().ok());
    let is_fit = |letter: &char| letter.is_ascii_alphanumeric() || "-_".contains(*letter);
    let name: String = named?.chars().filter(is_fit).take(64).collect();
    (!name.is_empty()).then_some(name)
}

/// Returns a name for a session whose program gives it none: a hash of its beginning, up to the first message of the user.
pub(crate) fn beginning(history: &Conversation) -> String {
    let mut messages = history.all_messages().iter();
    let first = messages.position(|message| message.role == baler_host::conversation::Role::User);
    history
        .prefix(first.map_or(0, |index| index + 1))
        .to_string()
}

/// Returns the model that a path names; empty if it names none.
pub(crate) fn model(path: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or_default();
    short(last.split_once(':').map_or("", |(model, _)| model))
}

/// Shortens a name that is recorded.
pub(crate) fn short(name: &str) -> String {
    name.chars().take(128).collect()
}

/// Says in a header what was done with a request.
pub(crate) fn said(exchange: &Exchange) -> HeaderValue {
    let shadow = if exchange.shadow {
        "shadow; would="
    } else {
        ""
    };
    let why = exchange.why.as_deref();
    let why = why.map(|why| format!("; why={why}")).unwrap_or_default();
    let text = format!("{shadow}{}{why}", exchange.action.name());
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("passed"))
}

/// Returns the program's name and version from its `User-Agent`.
pub(crate) fn program(headers: &HeaderMap) -> String {
    let agent = headers.get(axum::http::header::USER_AGENT);
    let agent = agent
        .and_then(|agent| agent.to_str().ok())
        .unwrap_or_default();
    let first = agent.split_whitespace().next().unwrap_or_default();
    first.chars().take(64).collect()
}
