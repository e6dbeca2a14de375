//! From lines to messages: parts of a response joined, results behind their calls.

use std::borrow::Cow;
use std::collections::HashMap;

use super::segment::Segment;
use super::{Block, BlockKind, Content, Reply, branches};
use crate::formats::Format;
use crate::formats::json;
use crate::logs::body::{Body, Message};
use crate::logs::pairing::{Calls, NO_RESULT};
use crate::logs::{Log, LogError, LogFacts, LogKind};

enum Turn<'a> {
    Reply {
        blocks: Vec<Cow<'a, str>>,
        /// Whether it holds more than thinking.
        says: bool,
        tokens: u64,
    },
    User(Vec<Block<'a>>),
    Summary(String),
}

/// The body of a segment.
///
/// # Errors
/// There is no message in it.
pub(super) fn body(
    segment: Segment<'_>,
    mut facts: LogFacts,
    summary: &dyn Fn(&str) -> String,
) -> Result<Log, LogError> {
    let mut body = Body::new(LogKind::ClaudeCode, Format::Anthropic);
    let left = branches::left(&segment.nodes);
    facts.other_branches = left.iter().filter(|left| **left).count();
    let mut flow = Flow::default();
    for (content, left) in segment.contents.into_iter().zip(left) {
        match content {
            _ if left => {}
            Content::None => {}
            Content::Reply(reply) => {
                if reply.model.is_some() {
                    body.model.clone_from(&reply.model);
                }
                flow.reply(reply, &mut facts);
            }
            Content::Said { blocks, .. } => flow.said(blocks, &mut facts),
            Content::Summary(text) => {
                facts.recorded_summaries += 1;
                flow.turns.push(Turn::Summary(summary(&text)));
            }
        }
    }
    flow.write(&mut body, &mut facts);
    body.finish(facts)
}

#[derive(Default)]
struct Flow<'a> {
    turns: Vec<Turn<'a>>,
    /// Where the response with an id is among the turns.
    replies: HashMap<Cow<'a, str>, usize>,
    calls: Calls<'a, &'a str>,
}

impl<'a> Flow<'a> {
    /// Adds a part of a response to it, also where results of its first calls lie between
    /// (LCC-2). The counts of its last part are the right ones (LCC-3).
    fn reply(&mut self, reply: Reply<'a>, facts: &mut LogFacts) {
        let known = reply
            .id
            .as_ref()
            .and_then(|id| self.replies.get(id).copied());
        let index = known.unwrap_or(self.turns.len());
        if known.is_none() {
            self.turns.push(Turn::Reply {
                blocks: Vec::new(),
                says: false,
                tokens: 0,
            });
            if let Some(id) = reply.id {
                self.replies.insert(id, index);
            }
        }
        let Some(Turn::Reply {
            blocks,
            says,
            tokens,
        }) = self.turns.get_mut(index)
        else {
            return;
        };
        *tokens = reply.tokens;
        for block in reply.blocks {
            match &block.kind {
                BlockKind::Call(id) if id.is_empty() || self.calls.knows(id) => {
                    facts.dropped_calls += 1;
                    continue;
                }
                BlockKind::Call(id) => self.calls.open(index, id.clone(), id.clone()),
                // Results of the user's tools are the user's.
                BlockKind::Result(_) => {
                    facts.dropped_results += 1;
                    continue;
                }
                _ => {}
            }
            *says |= !matches!(block.kind, BlockKind::Thinking);
            blocks.push(block.listed());
        }
    }

    /// Adds what the user said, to the user message before it if there is one (LCC-5).
    fn said(&mut self, said: Vec<Block<'a>>, facts: &mut LogFacts) {
        let mut blocks = Vec::new();
        for block in said {
            match &block.kind {
                BlockKind::Result(id) => {
                    let is_new = self.calls.answer(id, block.raw);
                    facts.dropped_results += usize::from(!is_new);
                }
                _ => blocks.push(block),
            }
        }
        match self.turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some(Turn::User(before)) => before.append(&mut blocks),
            _ => self.turns.push(Turn::User(blocks)),
        }
    }

    fn write(mut self, body: &mut Body<'a>, facts: &mut LogFacts) {
        let last = self.turns.len().saturating_sub(1);
        let mut user = User::default();
        for (index, turn) in self.turns.into_iter().enumerate() {
            match turn {
                Turn::Summary(text) => {
                    user.write(body);
                    body.push_text(&text);
                }
                Turn::User(blocks) => user.blocks.extend(blocks),
                // Thinking alone is refused at the end of a message.
                Turn::Reply { says: false, .. } => facts.aborted_responses += 1,
                Turn::Reply { blocks, tokens, .. } => {
                    user.write(body);
                    body.push(Message::Parts("assistant", blocks));
                    body.report(tokens);
                    for (id, result) in self.calls.batch(index, index == last) {
                        facts.completed_calls += usize::from(result.is_none());
                        user.results
                            .push(result.map_or_else(|| missing(&id), Cow::Borrowed));
                    }
                }
            }
        }
        user.write(body);
    }
}

/// The user message that is being put together: results first (ANTH-3).
#[derive(Default)]
struct User<'a> {
    results: Vec<Cow<'a, str>>,
    blocks: Vec<Block<'a>>,
}

impl<'a> User<'a> {
    fn write(&mut self, body: &mut Body<'a>) {
        let Self {
            mut results,
            blocks,
        } = std::mem::take(self);
        match &blocks[..] {
            [] if results.is_empty() => {}
            [
                Block {
                    raw,
                    kind: BlockKind::Bare,
                },
            ] if results.is_empty() => {
                body.push(Message::Said("user", raw));
            }
            blocks => {
                results.extend(blocks.iter().map(Block::listed));
                body.push(Message::Parts("user", results));
            }
        }
    }
}

fn missing(id: &str) -> Cow<'static, str> {
    let (id, text) = (json::encode(id), json::encode(NO_RESULT));
    Cow::Owned(format!(
        r#"{{"type":"tool_result","tool_use_id":{id},"content":{text},"is_error":true}}"#
    ))
}
