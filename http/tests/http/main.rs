//! The server and the client, against each other and against bad company, on loopback ports.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests end the test where something is not as it should be"
)]

/// Servers, requests and conversations.
mod support;
/// Strategies that take their time.
mod strategies;

/// What clients get.
mod client_form;
/// What is refused, and how.
mod limits;
/// Remote strategies: good ones, and all that can go wrong with one.
mod remote;
/// The server's own description is that of the server.
mod openapi;
/// Starting, stopping, and who may ask.
mod serving;
/// Clients that do not read their answers.
mod unread;
/// Work that blocks, and clients that do not wait for it.
mod turns;
