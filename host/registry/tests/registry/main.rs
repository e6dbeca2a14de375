//! Registries that work, registries that lie, layout folders, and the tools of others.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "helpers end the test on an unexpected state, and say what was skipped"
)]

/// A registry.
mod server;
/// Strategies, publishers and pulls.
mod support;

/// What works: pushing, signing, pulling, locking.
mod pulls;
/// What is refused: everything that a registry can do wrong.
mod faults;
/// Passwords and tokens.
mod access;
/// Versions, locks and policies.
mod locks;
/// Layout folders.
mod layouts;
/// The registry of Debian, skopeo, openssl and the JavaScript library of Sigstore.
mod other_tools;
/// A disk that is full.
mod full_disk;
