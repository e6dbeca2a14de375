//! The lines since the last compaction, and how they hang together.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::branches::{Kind, Leaf, Node};
use super::content::{Content, Source};
use super::kept::{Kept, Named};
use crate::logs::anthropic::blocks::BlockKind;
use crate::logs::anthropic::reply::Reply;

/// Lines that chains of kept lines may go through for each line, so that a log of many boundaries costs
/// no more than that.
const EFFORT: usize = 64;

#[derive(Default)]
pub(super) struct Segment<'a> {
    /// One for each line that the chain of parents can go through.
    pub(super) nodes: Vec<Node>,
    pub(super) contents: Vec<Content<'a>>,
    places: HashMap<Cow<'a, str>, usize>,
    /// The responses since the user's last prompt, by the id that their parts share.
    replies: HashMap<Cow<'a, str>, Response<'a>>,
    reply_count: usize,
    /// The response that made the newest call of an id.
    callers: HashMap<Cow<'a, str>, usize>,
    /// Lines with results that came before any call of their id, since the user's last prompt.
    early: HashMap<Cow<'a, str>, usize>,
    messages: usize,
    summaries: usize,
    /// Messages from before the boundary, and those that waited with them, without summaries.
    kept: usize,
    waiting: Waiting<'a>,
    /// Whether it began with a boundary whose summary did not come yet.
    awaits_summary: bool,
    /// Lines that the boundary kept, and that were found nowhere so far.
    missing: HashSet<Cow<'a, str>>,
    /// How many lines chains may still go through.
    effort: usize,
    /// The sessions of prompts that hang on nothing, with numbers.
    roots: HashMap<Cow<'a, str>, usize>,
    /// The line with which the conversation goes on, as the program said last, and how many nodes there were.
    leaf: Option<(Cow<'a, str>, usize)>,
    /// The sessions that its messages name.
    pub(super) sessions: HashSet<Cow<'a, str>>,
}

/// Lines from before a boundary, until the one comes after which they belong.
#[derive(Default)]
struct Waiting<'a> {
    anchor: Option<Cow<'a, str>>,
    lines: Vec<Line<'a>>,
    ids: HashSet<Cow<'a, str>>,
}

impl<'a> Waiting<'a> {
    fn add(
        &mut self,
        id: Option<Cow<'a, str>>,
        parent: Option<Cow<'a, str>>,
        content: Content<'a>,
    ) {
        self.ids.extend(id.clone());
        self.lines.push(Line {
            id,
            parent,
            content,
        });
    }
}

/// A response that may go on.
struct Response<'a> {
    number: usize,
    /// The request that its first part answers.
    request: Option<Cow<'a, str>>,
}

struct Line<'a> {
    id: Option<Cow<'a, str>>,
    parent: Option<Cow<'a, str>>,
    content: Content<'a>,
}

impl<'a> Segment<'a> {
    /// Whether a line with this id is there.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.places.contains_key(id) || self.waiting.ids.contains(id)
    }

    /// Whether there is any message.
    pub(super) fn says_anything(&self) -> bool {
        self.messages > 0 || !self.waiting.lines.is_empty()
    }

    /// Whether a summary that comes next has no boundary before it, and so begins a segment itself.
    pub(super) fn lacks_boundary(&self) -> bool {
        !self.awaits_summary && self.messages > self.summaries + self.kept
    }

    /// Begins anew at a boundary, and says how many messages are gone.
    pub(super) fn begin(&mut self, kept: Option<Kept<'a>>) -> usize {
        let gone = self.restart(kept);
        self.awaits_summary = true;
        gone
    }

    /// Begins anew with what a compaction kept, and says how many messages are gone.
    pub(super) fn restart(&mut self, kept: Option<Kept<'a>>) -> usize {
        self.place_kept();
        let mut before = std::mem::take(self);
        let Some(kept) = kept else {
            self.effort = before.effort;
            return before.messages;
        };
        let (mut stays, missing) = before.find(kept.named);
        self.effort = before.effort;
        self.missing = missing;
        self.waiting.anchor = kept.anchor;
        let mut ids: Vec<Option<Cow<'a, str>>> = vec![None; before.nodes.len()];
        for (id, place) in before.places {
            ids[place] = Some(id);
        }
        // What was queued has no line of its own, and stays with the line in front of it.
        for (place, node) in before.nodes.iter().enumerate() {
            let is_queued = ids[place].is_none() && is_record(&before.contents[place]);
            if is_queued && node.parent.is_some_and(|parent| stays[parent]) {
                stays[place] = true;
            }
        }
        let mut gone = before.messages;
        let lines = before.nodes.iter().zip(before.contents).zip(stays);
        for (place, ((node, mut content), stays)) in lines.enumerate() {
            if !stays {
                continue;
            }
            gone -= usize::from(node.kind != Kind::Passing);
            // They counted what the compaction removed.
            if let Content::Reply(reply) = &mut content {
                reply.tokens = 0;
            }
            let id = ids[place].clone();
            let parent = node.parent.and_then(|parent| ids[parent].clone());
            self.waiting.add(id, parent, content);
        }
        gone
    }

    /// Ends it, and says how many of the lines that the boundary kept were found nowhere.
    pub(super) fn finish(&mut self) -> usize {
        self.place_kept();
        self.missing.len()
    }

    /// Which lines a boundary kept, and the ids of those that are not there.
    fn find(&mut self, named: Named<'a>) -> (Vec<bool>, HashSet<Cow<'a, str>>) {
        let mut stays = vec![false; self.nodes.len()];
        let mut missing = HashSet::new();
        match named {
            Named::Each(ids) => {
                for id in ids {
                    match self.places.get(&id) {
                        Some(place) => stays[*place] = true,
                        None => {
                            missing.insert(id);
                        }
                    }
                }
            }
            Named::Chain { head, tail } => match self.chain(&head, &tail) {
                Some(chain) => stays = chain,
                None => missing.extend([head, tail]),
            },
        }
        (stays, missing)
    }

    /// The lines from `tail` back to `head` by their parents, and beside them the other parts and results
    /// of their responses, since the chain goes through one of parallel calls only. `None` if it does not
    /// get there.
    fn chain(&mut self, head: &str, tail: &str) -> Option<Vec<bool>> {
        let head = *self.places.get(head)?;
        let mut place = *self.places.get(tail)?;
        self.effort = self.effort.checked_sub(self.nodes.len())?;
        let mut stays = vec![false; self.nodes.len()];
        let mut responses = HashSet::new();
        loop {
            let node = self.nodes[place];
            stays[place] = true;
            responses.extend(response(node.kind));
            if place == head {
                break;
            }
            place = node.parent?;
        }
        for (place, node) in self.nodes.iter().enumerate().skip(head) {
            stays[place] |= response(node.kind).is_some_and(|number| responses.contains(&number));
        }
        Some(stays)
    }

    /// The program says that the conversation goes on from the line with this id.
    pub(super) fn go_on_from(&mut self, id: Option<Cow<'a, str>>) {
        if let Some(id) = id {
            self.leaf = Some((id, self.nodes.len()));
        }
    }

    /// The line from which it goes on, where that is known.
    pub(super) fn leaf(&self) -> Option<Leaf> {
        let (id, nodes) = self.leaf.as_ref()?;
        let node = *self.places.get(id)?;
        Some(Leaf {
            node,
            nodes: *nodes,
        })
    }

    /// Adds a line, which may be the `root` of a session, and after it the kept lines if it is their anchor. If
    /// the anchor is missing, they come before the next message. What is said between a boundary and its
    /// summary comes after the kept lines, and so waits with them.
    pub(super) fn push(
        &mut self,
        id: Option<Cow<'a, str>>,
        parent: Option<Cow<'a, str>>,
        root: Option<Cow<'a, str>>,
        content: Content<'a>,
    ) {
        self.effort = self.effort.saturating_add(EFFORT);
        let is_anchor = id.is_some() && id == self.waiting.anchor;
        match content {
            Content::None => {}
            Content::Summary(_) => self.awaits_summary = false,
            Content::Reply(_) | Content::Said { .. } => {
                if self.awaits_summary && !is_anchor && !self.waiting.lines.is_empty() {
                    self.waiting.add(id, parent, content);
                    return;
                }
                self.place_kept();
            }
        }
        self.add(id, parent, root, content);
        if is_anchor {
            self.place_kept();
        }
    }

    fn place_kept(&mut self) {
        for line in std::mem::take(&mut self.waiting).lines {
            let is_summary = matches!(line.content, Content::Summary(_));
            let messages = self.messages;
            self.add(line.id, line.parent, None, line.content);
            if !is_summary {
                self.kept += self.messages - messages;
            }
        }
    }

    fn add(
        &mut self,
        id: Option<Cow<'a, str>>,
        parent: Option<Cow<'a, str>>,
        root: Option<Cow<'a, str>>,
        content: Content<'a>,
    ) {
        let parent = parent.and_then(|parent| self.places.get(&parent).copied());
        let kind = match &content {
            Content::None => Kind::Passing,
            Content::Reply(reply) => {
                let number = self.number(reply, parent);
                for block in &reply.blocks {
                    if let BlockKind::Call(call) = &block.kind {
                        self.callers.insert(call.clone(), number);
                        self.claim(call, number, parent);
                    }
                }
                Kind::Reply(number)
            }
            Content::Said { blocks, source } => {
                let call = blocks.iter().find_map(|block| match &block.kind {
                    BlockKind::Result(call) => Some(call),
                    _ => None,
                });
                match (call, call.and_then(|call| self.callers.get(call))) {
                    (Some(_), Some(number)) => Kind::Results(*number),
                    (Some(call), None) => {
                        self.early.insert(call.clone(), self.nodes.len());
                        Kind::Other
                    }
                    (None, _) if *source == Source::Prompt => Kind::Typed,
                    (None, _) => Kind::Other,
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
        if kind == Kind::Typed {
            // No response goes on after it, and gateways give all of them the same id.
            self.replies = HashMap::new();
            self.early = HashMap::new();
        }
        if let Some(id) = id {
            self.missing.remove(&id);
            self.places.insert(id, self.nodes.len());
        }
        let root = root.filter(|_| kind == Kind::Typed).map(|session| {
            let next = self.roots.len();
            *self.roots.entry(session).or_insert(next)
        });
        self.nodes.push(Node { parent, kind, root });
        self.contents.push(content);
    }

    /// Gives a call the line of its result that came early (LCC-20). That line hangs on the call, which was not
    /// there yet: it stands beside the call, so that it is left where the call is.
    fn claim(&mut self, call: &str, number: usize, parent: Option<usize>) {
        let Some(place) = self.early.remove(call) else {
            return;
        };
        if let Some(node) = self.nodes.get_mut(place) {
            node.kind = Kind::Results(number);
            node.parent = node.parent.or(parent.filter(|parent| *parent < place));
        }
    }

    /// The number of the response that a part belongs to; a new one where its id is new or missing, or where it
    /// hangs on a result of that response. The model saw that result before it said more, unless both parts
    /// answer one request: then the tool ran while the response went on.
    fn number(&mut self, part: &Reply<'a>, parent: Option<usize>) -> usize {
        let answers = parent
            .and_then(|parent| self.nodes.get(parent))
            .map(|node| node.kind);
        let known = part.id.as_ref().and_then(|id| self.replies.get(id));
        if let Some(known) = known {
            let is_same_request = part.request.is_some() && part.request == known.request;
            if is_same_request || answers != Some(Kind::Results(known.number)) {
                return known.number;
            }
        }
        let number = self.reply_count;
        self.reply_count += 1;
        if let Some(id) = &part.id {
            let request = part.request.clone();
            self.replies
                .insert(id.clone(), Response { number, request });
        }
        number
    }
}

/// The number of the response that a line belongs to.
fn response(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Reply(number) | Kind::Results(number) => Some(number),
        _ => None,
    }
}

/// Whether it is what a line of another type than a message's says.
fn is_record(content: &Content<'_>) -> bool {
    matches!(
        content,
        Content::Said {
            source: Source::Record,
            ..
        }
    )
}
