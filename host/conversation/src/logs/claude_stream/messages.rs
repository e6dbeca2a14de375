//! From the lines of a stream to what was said, in order.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use crate::json::Members;
use crate::logs::anthropic::blocks::{Block, any_result, blocks, joined_texts, mark_inserted};
use crate::logs::anthropic::flow::Flow;
use crate::logs::anthropic::reply::{Reply, reply};
use crate::logs::body::Body;
use crate::logs::records::not_understood;
use crate::model::log::LogFacts;

/// Messages that compactions may keep for each line, so that a stream of many compactions costs no more than that.
const EFFORT: usize = 64;

/// What the model sees so far.
#[derive(Default)]
pub(super) struct Messages<'a> {
    list: Vec<Message<'a>>,
    /// The response that may go on with the next line: its id and number.
    open: Option<(Cow<'a, str>, usize)>,
    replies: usize,
    /// A compaction whose summary did not come yet.
    boundary: Option<Kept<'a>>,
    /// What the line of each id says. A resumed session may repeat lines.
    seen: HashMap<Cow<'a, str>, &'a str>,
    /// How many messages compactions may still keep.
    effort: usize,
    sessions: HashSet<Cow<'a, str>>,
}

struct Message<'a> {
    id: Option<Cow<'a, str>>,
    said: Said<'a>,
}

enum Said<'a> {
    /// A part of the response with this number.
    Model(usize, Reply<'a>),
    User(Vec<Block<'a>>),
    Summary(String),
}

/// The first and the last of the messages that a compaction kept as they were, if it kept any.
type Kept<'a> = Option<(Cow<'a, str>, Cow<'a, str>)>;

impl<'a> Messages<'a> {
    /// Adds a line.
    pub(super) fn add(&mut self, line: &Members<'a>, facts: &mut LogFacts) {
        self.effort = self.effort.saturating_add(EFFORT);
        let is_sub_agents = line.present("parent_tool_use_id").is_some();
        match line.text("type").as_deref() {
            Some("assistant" | "user") if is_sub_agents => facts.sidechain_lines += 1,
            Some("assistant" | "user") if self.is_repeated(line) => facts.skipped_lines += 1,
            // The program says it in place of the model, which never answered.
            Some("assistant") if line.present("error").is_some() => facts.skipped_lines += 1,
            Some("assistant") => match reply(line, facts) {
                Some(reply) => self.model(line, reply),
                None => not_understood(facts),
            },
            Some("user") => self.user(line, facts),
            Some("system") => {
                if line.text("subtype").as_deref() == Some("compact_boundary") {
                    self.boundary = Some(kept(line));
                }
                facts.skipped_lines += 1;
            }
            // All that these say is said in other lines, or to the caller.
            Some(
                "stream_event" | "result" | "tool_progress" | "tool_use_summary" | "auth_status"
                | "rate_limit_event" | "prompt_suggestion" | "keep_alive" | "control_request"
                | "control_response",
            ) => facts.skipped_lines += 1,
            _ => not_understood(facts),
        }
    }

    /// Whether the line was there before. Notes what it says.
    fn is_repeated(&mut self, line: &Members<'a>) -> bool {
        let id = line.text("uuid").filter(|id| !id.is_empty());
        let (Some(id), Some(message)) = (id, line.get("message").map(RawValue::get)) else {
            return false;
        };
        self.seen.insert(id, message) == Some(message)
    }

    fn push(&mut self, line: &Members<'a>, said: Said<'a>) {
        let id = line.text("uuid");
        self.sessions.extend(line.text("session_id"));
        self.list.push(Message { id, said });
    }

    /// Adds a part of a response. One ends where the user says something or a tool returns: gateways may give all
    /// responses one id.
    fn model(&mut self, line: &Members<'a>, reply: Reply<'a>) {
        let number = match (&self.open, &reply.id) {
            (Some((open, number)), Some(id)) if open == id => *number,
            _ => {
                self.replies += 1;
                self.replies
            }
        };
        self.open = reply.id.clone().map(|id| (id, number));
        self.push(line, Said::Model(number, reply));
    }

    fn user(&mut self, line: &Members<'a>, facts: &mut LogFacts) {
        let content = line.inside("message", "content");
        let Some(mut blocks) = content.and_then(|content| blocks(content, facts)) else {
            not_understood(facts);
            return;
        };
        self.open = None;
        if !line.is_true("isSynthetic") {
            self.push(line, Said::User(blocks));
        } else if let Some(kept) = self.boundary.take() {
            self.restart(kept, facts);
            let (id, said) = (line.text("uuid"), Said::Summary(joined_texts(&blocks)));
            self.list.insert(0, Message { id, said });
        } else {
            mark_inserted(&mut blocks);
            self.push(line, Said::User(blocks));
        }
    }

    /// Begins anew with what a compaction kept.
    fn restart(&mut self, kept: Kept<'a>, facts: &mut LogFacts) {
        let before = std::mem::take(&mut self.list);
        self.sessions = HashSet::new();
        let all = before.len();
        if let Some((head, tail)) = kept.filter(|_| all <= self.effort) {
            self.effort -= all;
            let place = |id: &str| {
                let is_it = |message: &Message<'_>| message.id.as_deref() == Some(id);
                before.iter().position(is_it)
            };
            match (place(&head), place(&tail)) {
                (Some(head), Some(tail)) => {
                    let kept = before.into_iter().take(tail + 1).skip(head);
                    self.list.extend(kept.map(Message::without_count));
                }
                // How many there were between them, nothing tells.
                (head, tail) => {
                    facts.missing_messages +=
                        usize::from(head.is_none()) + usize::from(tail.is_none());
                }
            }
        }
        facts.earlier_messages += all - self.list.len();
    }

    /// Writes all of it, with the model that answered last.
    pub(super) fn write(self, body: &mut Body<'a>, facts: &mut LogFacts) {
        facts.sessions = self.sessions.len();
        let mut flow = Flow::default();
        for message in self.list {
            match message.said {
                Said::Model(number, reply) => {
                    body.model = reply.model.or(body.model.take());
                    flow.reply(number, reply.tokens, reply.blocks, facts);
                }
                Said::User(blocks) => {
                    if !any_result(&blocks) {
                        flow.stop_waiting();
                    }
                    flow.said(blocks);
                }
                Said::Summary(text) => flow.summary(text),
            }
        }
        flow.write(body, facts);
    }
}

impl Message<'_> {
    /// The message without what the provider counted, which is what the compaction removed.
    fn without_count(mut self) -> Self {
        if let Said::Model(_, reply) = &mut self.said {
            reply.tokens = 0;
        }
        self
    }
}

/// What the line of a boundary says that its compaction kept.
fn kept<'a>(line: &Members<'a>) -> Kept<'a> {
    let kept = line
        .object("compact_metadata")?
        .object("preserved_segment")?;
    Some((kept.text("head_uuid")?, kept.text("tail_uuid")?))
}
