//! The host and its strategies, end to end.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests end the test where something is not as it should be"
)]

/// Hosts, conversations and checks that the tests share.
mod support;

/// What fuzzing found.
mod findings;
/// What providers ask for beside the rules: limits, thinking, caches, logs.
mod providers;
/// One test for each hostile guest: the fault, or why it is harmless.
/// Made-up conversations of every format.
mod generated;
mod hostile;
/// I1 to I9 of ARCHITECTURE.md, one by one.
mod invariants;
/// Conversations that came in invalid and were repaired.
mod repairs;
/// What the sandbox promises beside faults: limits, cache, cancelling, quarantine.
mod models;
mod sandbox;
mod seeds;
/// The strategies that ship with baler, as guests.
mod strategies;
/// Recorded conversations, where there are some.
mod corpus;
/// Published files agree with the code; the example program and the guests' own tests run.
mod published;
