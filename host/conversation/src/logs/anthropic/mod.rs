//! Logs whose messages are Anthropic's: their blocks are copied byte for byte, and only what lies around them is
//! new. What such a program's records are like, its own folder knows.

pub(super) mod blocks;
pub(super) mod flow;
pub(super) mod foreign;
pub(super) mod reply;
