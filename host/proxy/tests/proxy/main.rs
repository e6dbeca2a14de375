//! The proxy between clients and upstreams, over real connections.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests"
)]

mod passing;
mod sessions;
mod support;
