//! Lines that hold a response of the API's, or a part of one.

use std::borrow::Cow;

use super::blocks::{Block, blocks};
use crate::json::Members;
use crate::model::log::LogFacts;

/// A part of a response.
pub(in crate::logs) struct Reply<'a> {
    /// What all parts of one response have in common (LCC-2); `None` if it is empty.
    pub(in crate::logs) id: Option<Cow<'a, str>>,
    /// The request that it answers, which gateways may not tell; `None` if it is empty.
    pub(in crate::logs) request: Option<Cow<'a, str>>,
    pub(in crate::logs) model: Option<Cow<'a, str>>,
    /// Tokens of the request and of the response so far (LCC-14); 0 where none are told.
    pub(in crate::logs) tokens: u64,
    pub(in crate::logs) blocks: Vec<Block<'a>>,
}

/// What a line holds of a response; `None` if it holds no message of the API's.
pub(in crate::logs) fn reply<'a>(line: &Members<'a>, facts: &mut LogFacts) -> Option<Reply<'a>> {
    let message = line.object("message")?;
    let blocks = blocks(message.present("content")?, facts)?;
    let tokens = message.object("usage").map_or(0, |usage| {
        usage.sum(&[
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "output_tokens",
        ])
    });
    Some(Reply {
        id: message.text("id").filter(|id| !id.is_empty()),
        request: line.text("requestId").filter(|id| !id.is_empty()),
        model: message.text("model").filter(|model| model != "<synthetic>"),
        tokens,
        blocks,
    })
}
