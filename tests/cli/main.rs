//! The program `baler` as people run it: exit codes, standard output, standard error, and files.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests"
)]

mod archive;
mod archive_location;
#[cfg(unix)]
mod build;
mod cache;
mod compact;
mod compose;
mod config;
mod conversations;
#[cfg(all(unix, feature = "http"))]
mod doctor;
#[cfg(unix)]
mod environment;
mod expand;
mod input;
mod introspect;
mod limits;
#[cfg(all(unix, feature = "http"))]
mod mcp;
mod models;
mod new;
mod output;
mod pages;
mod project;
#[cfg(all(unix, feature = "http"))]
mod proxied;
#[cfg(feature = "registry")]
mod registry;
mod repair;
#[cfg(all(unix, feature = "http"))]
mod served;
#[cfg(all(unix, feature = "http"))]
mod service;
mod should_compact;
#[cfg(unix)]
mod special_files;
mod state_folder;
mod strategies;
mod support;
#[cfg(target_os = "linux")]
mod targets;
#[cfg(unix)]
mod terminal;
#[cfg(feature = "eval")]
mod test;
#[cfg(all(unix, feature = "http"))]
mod ui;
mod undo;
mod usage;
mod validate;
mod whole_files;
mod wrap;

#[path = "../state/mod.rs"]
mod state;
