//! A server on this machine that simulates providers and their faults, for tests.
//!
//! ```
//! use baler_models::Provider;
//! use baler_models::testing::{Reply, ScriptedServer};
//!
//! # fn main() -> std::io::Result<()> {
//! // The server rejects the first request and answers all others.
//! let server = ScriptedServer::start([
//!     Reply::error(Provider::Anthropic, 429, "slow down").header("retry-after", "1"),
//!     Reply::text(Provider::Anthropic, "A summary."),
//! ])?;
//! server.set_default_reply(Reply::text(Provider::Anthropic, "Another one."));
//! let url = server.base_url(Provider::Anthropic);
//! // … ask a client with this base URL …
//! assert!(server.requests().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! The server has its own threads and needs no runtime. Each connection serves one request. Replies are given
//! in the order in which requests have been read completely. After the last reply, every request gets the
//! default reply ([`ScriptedServer::set_default_reply`]), or else status 501, which clients do not retry.

mod connection;
mod reply;
mod server;

pub use self::connection::RecordedRequest;
pub use self::reply::Reply;
pub use self::server::ScriptedServer;
