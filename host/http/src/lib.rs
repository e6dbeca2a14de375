//! baler over HTTP.
//!
//! [`Server`] offers the strategies of a [`baler_host::Host`] to programs in any language, and
//! to other balers as a remote strategy. [`HttpRemote`] is the client: a strategy that runs
//! behind a URL. `docs/serve.md` describes the protocol; the server describes it for programs
//! under `/openapi.json`.

mod token;
mod descriptors;
mod limits;
mod listening;
mod server;
mod client;

pub use client::{HttpRemote, UrlError, is_server_of};
pub use descriptors::raise_descriptor_limit;
pub use limits::ServerLimits;
pub use listening::Listener;
#[doc(hidden)]
pub use server::names_this_machine;
pub use server::{Server, ServerBuilder, ServerError};
pub use token::{Token, TokenError};
