//! What a conversation is made of, whatever its format: messages and their parts, units, rules.

pub(crate) mod document;
pub(crate) mod envelope;
pub(crate) mod format;
pub(crate) mod log;
pub mod message;
pub(crate) mod pairing;
pub(crate) mod read_error;
pub(crate) mod repair;
pub(crate) mod rule;
pub(crate) mod unit;
