//! baler over HTTP.
//!
//! [`Server`] offers the strategies of a [`baler_host::Host`] to programs in any language, and
//! to other balers as a remote strategy. [`HttpRemote`] is the other end: a strategy that runs
//! behind a URL. What they say to each other is told in `docs/serve.md` and, for programs, by
//! the server itself under `/openapi.json`.

mod token;
mod descriptors;
mod server;
mod client;

pub use client::{HttpRemote, UrlError, is_server_of};
pub use descriptors::allow_descriptors;
pub use server::{Server, ServerBuilder, ServerError, ServerLimits};
pub use token::{Token, TokenError};
