//! The lines since the last compaction, and how they hang together.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::branches::{Kind, Node};
use super::{BlockKind, Content};

#[derive(Default)]
pub(super) struct Segment<'a> {
    /// One for each line that the chain of parents can go through.
    pub(super) nodes: Vec<Node>,
    pub(super) contents: Vec<Content<'a>>,
    places: HashMap<Cow<'a, str>, usize>,
    /// Numbers of the responses, by the id that their parts share.
    replies: HashMap<Cow<'a, str>, usize>,
    reply_count: usize,
    /// The response that made the newest call of an id.
    callers: HashMap<Cow<'a, str>, usize>,
    messages: usize,
    summaries: usize,
    /// The sessions that its messages name.
    pub(super) sessions: HashSet<Cow<'a, str>>,
}

impl<'a> Segment<'a> {
    /// Whether a line with this id is there.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    pub(super) fn holds_more_than_summaries(&self) -> bool {
        self.messages > self.summaries
    }

    /// Begins anew, and tells how many messages are gone.
    pub(super) fn restart(&mut self) -> usize {
        std::mem::take(self).messages
    }

    pub(super) fn push(
        &mut self,
        id: Option<Cow<'a, str>>,
        parent: Option<Cow<'a, str>>,
        content: Content<'a>,
    ) {
        let kind = match &content {
            Content::None => Kind::Passing,
            Content::Reply(reply) => {
                let number = self.number(reply.id.as_ref());
                for block in &reply.blocks {
                    if let BlockKind::Call(call) = &block.kind {
                        self.callers.insert(call.clone(), number);
                    }
                }
                Kind::Reply(number)
            }
            Content::Said { blocks, is_meta } => {
                let caller = blocks.iter().find_map(|block| match &block.kind {
                    BlockKind::Result(call) => Some(self.callers.get(call).copied()),
                    _ => None,
                });
                match caller {
                    Some(Some(number)) => Kind::Results(number),
                    Some(None) => Kind::Other,
                    None if *is_meta => Kind::Other,
                    None => Kind::Typed,
                }
            }
            Content::Summary(_) => {
                self.summaries += 1;
                Kind::Other
            }
        };
        if kind == Kind::Passing && id.is_none() {
            return;
        }
        if kind != Kind::Passing {
            self.messages += 1;
        }
        let parent = parent.and_then(|parent| self.places.get(&parent).copied());
        if let Some(id) = id {
            self.places.insert(id, self.nodes.len());
        }
        self.nodes.push(Node { parent, kind });
        self.contents.push(content);
    }

    /// The number of the response with this id; a new one where it is new or has no id.
    fn number(&mut self, id: Option<&Cow<'a, str>>) -> usize {
        let next = self.reply_count;
        let number = match id {
            Some(id) => *self.replies.entry(id.clone()).or_insert(next),
            None => next,
        };
        self.reply_count += usize::from(number == next);
        number
    }
}
