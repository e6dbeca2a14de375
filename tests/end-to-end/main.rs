//! The host and its strategies, end to end.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests end the test where something is not as it should be"
)]

/// Hosts, conversations and checks that the tests share.
mod support;

/// Recorded conversations, where there are some.
mod corpus;
/// The host's own work and its deadline.
mod deadlines;
/// What fuzzing found.
mod findings;
/// Made-up conversations of every format.
mod generated;
/// One test for each hostile guest: the fault, or why it is harmless.
mod hostile;
/// I1 to I9 of ARCHITECTURE.md, one by one.
mod invariants;
/// Texts that are to join a message of the user's.
mod joined;
/// Marks in other spellings, and out of place.
mod marks;
/// Strategies that ask a model, and models that fail.
mod models;
/// What providers ask for beside the rules: limits, thinking, caches, logs.
mod providers;
/// Published files agree with the code; the example program and the guests' own tests run.
mod published;
/// Conversations that came in invalid and were repaired.
mod repairs;
/// What the sandbox promises beside faults: limits, cache, cancelling, quarantine.
mod sandbox;
/// What the systems before baler did, by their ids.
mod seeds;
/// The strategies that ship with baler, as guests.
mod strategies;
/// Tool outputs that the model has not seen yet.
mod unseen;
