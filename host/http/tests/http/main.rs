//! The server and the client, against each other and against misbehaving peers, on loopback ports.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers end the test on an unexpected state"
)]

/// Servers, requests and conversations.
mod support;
/// Strategies that are slow, broken, blocking or leaking.
mod strategies;

/// Answers to clients.
mod client_api;
/// Limits and error responses.
mod limits;
/// Remote strategies, working and misbehaving.
mod remote;
/// The OpenAPI document against the server's behaviour.
mod openapi;
/// Starting, stopping, and access control.
mod serving;
/// Clients that read their responses slowly or not at all.
mod slow_readers;
/// Slots, waiting, and cancelled work.
mod scheduling;
