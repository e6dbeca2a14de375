//! Generated bindings, one module for each version of the contract that the host supports.

pub(super) mod v0_1;

/// The contracts that the host supports, newest first, as `baler --version` lists them.
pub(crate) const CONTRACTS: &[&str] = &["baler:compaction@0.1.0"];
