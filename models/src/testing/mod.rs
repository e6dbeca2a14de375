//! A server on this machine that plays providers, with all the faults they have, for tests.
//!
//! ```
//! use baler_models::Provider;
//! use baler_models::testing::{Reply, ScriptedServer};
//!
//! # fn main() -> std::io::Result<()> {
//! // The first request is turned away, the second is answered, and so is every further one.
//! let server = ScriptedServer::start([
//!     Reply::error(Provider::Anthropic, 429, "slow down").header("retry-after", "1"),
//!     Reply::text(Provider::Anthropic, "A summary."),
//! ])?;
//! server.otherwise(Reply::text(Provider::Anthropic, "Another one."));
//! let url = server.base_url(Provider::Anthropic);
//! // … ask a model whose base URL that is …
//! assert!(server.requests().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! It needs no runtime: it has threads of its own, so it answers whatever the test is busy with. Each
//! connection serves one request. Requests take replies in the order in which they are read whole; a request that
//! finds none gets the one of [`ScriptedServer::otherwise`], or else status 501, which no client asks again.

mod connection;
mod replies;
mod server;

pub use self::connection::Recorded;
pub use self::replies::Reply;
pub use self::server::ScriptedServer;
