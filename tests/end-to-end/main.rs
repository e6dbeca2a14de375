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
/// The deadline of the host's own work.
mod deadlines;
/// What fuzzing found.
mod findings;
/// Generated conversations of every format.
mod generated;
/// One test for each hostile guest: its fault, or its harmless result.
mod hostile;
/// The invariants I1 to I9 of ARCHITECTURE.md, and the fallback.
mod invariants;
/// Bedrock Converse: roles that alternate, and what a result looks like there.
mod bedrock;
/// Inserted texts that join a protected user message.
mod joined;
/// Marks that were re-encoded, copied or recorded in a log (I8), and recorded summaries (I4).
mod marks;
/// Strategies that ask a model, and models that fail.
mod models;
mod plan_attacks;
/// Limits, thinking, caches and stored state of providers; session logs.
mod providers;
/// Published files agree with the code; the example program and the tests of the guests run.
mod published;
/// Invalid conversations that are repaired before they are compacted.
mod repairs;
/// The sandbox beside faults: its compiler and cache, limits, cancelling, quarantine, memory.
mod sandbox;
/// The behaviours of the earlier systems in docs/seeds.md, by id.
mod seeds;
/// The bundled guest strategies.
mod strategies;
/// Tool outputs that the model has not seen yet (I4).
mod unseen;
/// What the user said (I4).
mod users_words;
/// WASI with nothing behind it.
mod wasi;
