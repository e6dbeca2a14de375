//! From what was said, in order, to messages: parts of a response joined, results after their calls.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::blocks::{Block, BlockKind};
use crate::formats::anthropic::{failed_result, write};
use crate::json;
use crate::logs::body::{Body, Message};
use crate::logs::pairing::{Calls, NO_RESULT, Names, with_id};
use crate::model::log::LogFacts;

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

/// What was said so far.
#[derive(Default)]
pub(in crate::logs) struct Flow<'a> {
    turns: Vec<Turn<'a>>,
    /// Where the response with a number is among the turns.
    replies: HashMap<usize, usize>,
    ids: Ids<'a>,
    calls: Calls<'a, Block<'a>>,
    /// Results that came so far.
    results: usize,
    /// How many turns there were when the newest result of a turn came.
    answered_at: HashMap<usize, usize>,
}

/// The ids of calls, each with the turn of its response.
#[derive(Default)]
struct Ids<'a> {
    used: HashSet<(usize, Cow<'a, str>)>,
    names: Names,
}

impl<'a> Ids<'a> {
    /// The id in the body of a call of `turn`: a new one where the log has an empty one. None
    /// where another call of the response has it (ALL-4).
    fn of_call(&mut self, turn: usize, logged: &Cow<'a, str>) -> Option<Cow<'a, str>> {
        let Self { used, names } = self;
        if logged.is_empty() {
            let name = names.next(|name| used.insert((turn, Cow::Owned(name.to_owned()))));
            return Some(Cow::Owned(name));
        }
        used.insert((turn, logged.clone())).then(|| logged.clone())
    }
}

impl<'a> Flow<'a> {
    /// Adds a part of the response with this number to it, with what the provider counted up to there: also
    /// where results of its first calls lie between (LCC-2). The counts of its last part are the right ones
    /// (LCC-3).
    pub(in crate::logs) fn reply(
        &mut self,
        number: usize,
        counted: u64,
        reply: Vec<Block<'a>>,
        facts: &mut LogFacts,
    ) {
        let next = self.turns.len();
        let index = *self.replies.entry(number).or_insert(next);
        if index == next {
            self.turns.push(Turn::Reply {
                blocks: Vec::new(),
                says: false,
                tokens: 0,
            });
        }
        let Some(Turn::Reply {
            blocks,
            says,
            tokens,
        }) = self.turns.get_mut(index)
        else {
            return;
        };
        *tokens = counted;
        for block in reply {
            let listed = match &block.kind {
                BlockKind::Call(logged) => {
                    let Some(id) = self.ids.of_call(index, logged) else {
                        facts.dropped_calls += 1;
                        continue;
                    };
                    let listed = if logged.is_empty() {
                        with_id(block.raw, "id", &id)
                    } else {
                        block.listed()
                    };
                    self.calls.open(index, logged.clone(), id);
                    listed
                }
                // Results of the user's tools are the user's.
                BlockKind::Result(_) => {
                    facts.dropped_results += 1;
                    continue;
                }
                _ => block.listed(),
            };
            *says |= !matches!(block.kind, BlockKind::Thinking);
            blocks.push(listed);
        }
    }

    /// Adds what the user said, to the user message before it if there is one (LCC-5). A result may stand
    /// before its call (LCC-20).
    pub(in crate::logs) fn said(&mut self, said: Vec<Block<'a>>) {
        let mut blocks = Vec::new();
        for block in said {
            if let BlockKind::Result(id) = &block.kind {
                let id = id.clone();
                self.results += 1;
                if let Some(turn) = self.calls.answer_or_wait(id, block) {
                    self.answered_at.insert(turn, self.turns.len());
                }
            } else {
                blocks.push(block);
            }
        }
        match self.turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some(Turn::User(before)) => before.append(&mut blocks),
            _ => self.turns.push(Turn::User(blocks)),
        }
    }

    /// Adds a summary that the program recorded.
    pub(in crate::logs) fn summary(&mut self, text: String) {
        self.calls.stop_waiting();
        self.turns.push(Turn::Summary(text));
    }

    /// No call that comes from here on is answered by a result that came before.
    pub(in crate::logs) fn stop_waiting(&mut self) {
        self.calls.stop_waiting();
    }

    /// Writes all of it.
    pub(in crate::logs) fn write(mut self, body: &mut Body<'a>, facts: &mut LogFacts) {
        let last = self.turns.len().saturating_sub(1);
        let is_answer = |turn: &Turn<'_>| matches!(turn, Turn::Reply { says: true, .. });
        let newest = self.turns.iter().rposition(is_answer);
        let mut user = User::default();
        let mut answers = 0;
        for (index, turn) in self.turns.into_iter().enumerate() {
            match turn {
                Turn::Summary(text) => {
                    user.write(body);
                    body.push_summary(&text);
                }
                Turn::User(blocks) => user.blocks.extend(blocks),
                // Thinking alone is refused at the end of a message.
                Turn::Reply { says: false, .. } => facts.aborted_responses += 1,
                Turn::Reply { blocks, tokens, .. } => {
                    user.write(body);
                    body.push(Message::Parts("assistant", blocks));
                    body.report(tokens);
                    // An answer stands behind the call, and none behind its result (LCC-21).
                    let answered_at = self.answered_at.get(&index);
                    user.is_late = newest > Some(index) && answered_at.copied() > newest;
                    for (id, result) in self.calls.batch(index, index == last) {
                        facts.completed_calls += usize::from(result.is_none());
                        answers += usize::from(result.is_some());
                        user.results
                            .push(result.map_or_else(|| missing(&id), |block| answer(&block, &id)));
                    }
                }
            }
        }
        user.write(body);
        facts.dropped_results += self.results.saturating_sub(answers);
    }
}

/// The user message that is being put together: results first (ANTH-3).
#[derive(Default)]
struct User<'a> {
    results: Vec<Cow<'a, str>>,
    blocks: Vec<Block<'a>>,
    /// Whether one of the results came after the model's newest answer.
    is_late: bool,
}

impl<'a> User<'a> {
    fn write(&mut self, body: &mut Body<'a>) {
        let Self {
            mut results,
            blocks,
            is_late,
        } = std::mem::take(self);
        if is_late {
            body.note_late();
        }
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

/// A result of the call that has this id in the body.
fn answer<'a>(block: &Block<'a>, id: &str) -> Cow<'a, str> {
    let raw = match &block.kind {
        BlockKind::Result(logged) if logged.is_empty() => with_id(block.raw, "tool_use_id", id),
        _ => Cow::Borrowed(block.raw),
    };
    failed_result::accepted(&raw).map_or(raw, Cow::Owned)
}

fn missing(id: &str) -> Cow<'static, str> {
    let (id, text) = (json::encode(id), json::encode(NO_RESULT));
    Cow::Owned(write::result(&id, &text, true))
}
