//! The archive: what left can be had back, whoever writes and whatever fails.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests end the test where something is not as it should be"
)]

/// Conversations, hosts and stores that the tests share.
mod support;

/// Files that are not the archive's: neither removed nor waited for.
mod foreign;
/// What killed runs leave.
mod unfinished;
/// Folders: what lies in them, clearing, several writers, damage.
mod folder;
/// After any chain of compactions each earlier document comes back.
mod undo;
/// Stores that fail: nothing leaves.
mod faults;
/// The tool for the agent's model.
mod retrieve;
/// A store over the network.
mod s3;
/// A server that speaks S3, for these tests.
mod s3_server;
