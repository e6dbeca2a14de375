//! From events to turns.

use std::borrow::Cow;

use super::parts::{Known, block, words};
use crate::json::{self, Members};
use crate::logs::records::not_understood;
use crate::logs::turns::blocks::{Answer, Block, mark};
use crate::logs::turns::{Turn, Turns, format_of};
use crate::model::log::LogFacts;

/// What the model sees so far.
pub(super) struct Events<'k, 'a> {
    known: &'k Known<'a>,
    /// What the user said before the newest compaction: the program sends it again, in front of the summary.
    earlier: Vec<Vec<Block<'a>>>,
    summary: Option<String>,
    list: Vec<Said<'a>>,
    /// How much of the list the compaction covers that has begun. It runs while the agent works.
    covered: Option<usize>,
    model: Option<Cow<'a, str>>,
}

enum Said<'a> {
    User(Vec<Block<'a>>),
    /// A text of the program's for the model.
    Program(Vec<Block<'a>>),
    Model(Vec<Block<'a>>),
    Answer(Cow<'a, str>, Answer<'a>),
}

impl<'k, 'a> Events<'k, 'a> {
    pub(super) const fn new(known: &'k Known<'a>) -> Self {
        Self {
            known,
            earlier: Vec::new(),
            summary: None,
            list: Vec::new(),
            covered: None,
            model: None,
        }
    }

    /// Adds an event.
    pub(super) fn add(&mut self, event: &Members<'a>, facts: &mut LogFacts) {
        let kind = event.text("type");
        let Some(data) = event.object("data") else {
            not_understood(facts);
            return;
        };
        let is_of = |members: &Members<'_>, key: &str| members.present(key).is_some();
        if is_of(event, "agentId") || is_of(&data, "parentToolCallId") {
            facts.sidechain_lines += 1;
            return;
        }
        match kind.as_deref() {
            Some("user.message") => self.user(&data, facts),
            Some("system.notification") => {
                let mut blocks = Vec::from_iter(data.raw_text("content").and_then(block));
                mark(&mut blocks);
                self.list.push(Said::Program(blocks));
            }
            Some("assistant.message") => self.model(&data, facts),
            Some("tool.execution_complete") => {
                let call = data.text("toolCallId").unwrap_or_default();
                let answer = self.known.answer(&data, facts);
                self.list.push(Said::Answer(call, answer));
            }
            Some("session.compaction_start") => {
                self.covered = Some(self.list.len());
                facts.skipped_lines += 1;
            }
            Some("session.compaction_complete") => self.compact(&data, facts),
            Some("session.context_cleared") => {
                let all = self.list.len() + self.earlier.len();
                facts.earlier_messages += all + usize::from(self.summary.is_some());
                *self = Self {
                    model: self.model.take(),
                    ..Self::new(self.known)
                };
                let first = data.raw_text("initialMessage").and_then(block);
                self.list.extend(first.map(|first| Said::User(vec![first])));
            }
            Some("session.start" | "session.resume") => {
                self.choose(data.text("selectedModel"));
                facts.skipped_lines += 1;
            }
            Some("session.model_change") => {
                self.choose(data.text("newModel"));
                facts.skipped_lines += 1;
            }
            Some(kind) if is_silent(kind) => facts.skipped_lines += 1,
            _ => not_understood(facts),
        }
    }

    fn choose(&mut self, model: Option<Cow<'a, str>>) {
        self.model = model.or(self.model.take());
    }

    fn user(&mut self, data: &Members<'a>, facts: &mut LogFacts) {
        let sent = data.raw_text("transformedContent");
        let mut blocks = words(data.raw_text("content"), sent);
        let attached = data.list("attachments").unwrap_or_default();
        // What has a path alone stands in the text that is sent.
        let shown = attached.into_iter().filter(|raw| {
            sent.is_none()
                || json::members(raw.get()).is_some_and(|members| {
                    members.present("assetId").is_some() || members.present("data").is_some()
                })
        });
        self.known
            .pictures(Some(shown.collect()), &mut blocks, facts);
        let is_programs = data.is_true("isAutopilotContinuation")
            || data
                .text("source")
                .is_some_and(|source| source.starts_with("skill-") || source.starts_with("agent-"));
        if is_programs {
            mark(&mut blocks);
            self.list.push(Said::Program(blocks));
        } else {
            self.list.push(Said::User(blocks));
        }
    }

    fn model(&mut self, data: &Members<'a>, facts: &mut LogFacts) {
        self.choose(data.text("model"));
        let mut blocks = Vec::from_iter(data.raw_text("content").and_then(block));
        for raw in data.list("toolRequests").unwrap_or_default() {
            let request = json::members(raw.get());
            match request.and_then(|request| self.known.call(&request)) {
                Some(call) => blocks.push(call),
                None => facts.dropped_calls += 1,
            }
        }
        // Bound to the session: the program itself does not send it again.
        let is_thinking = ["reasoningText", "reasoningOpaque", "encryptedContent"]
            .iter()
            .any(|key| data.raw_text(key).and_then(block).is_some());
        facts.dropped_thinking += usize::from(is_thinking);
        self.list.push(Said::Model(blocks));
    }

    /// A summary takes the place of what was said before its compaction began, but for the user's words.
    fn compact(&mut self, data: &Members<'a>, facts: &mut LogFacts) {
        let covered = self.covered.take().unwrap_or(self.list.len());
        let summary = data
            .text("summaryContent")
            .filter(|_| data.is_true("success"));
        let Some(summary) = summary else {
            facts.skipped_lines += 1;
            return;
        };
        facts.earlier_messages += usize::from(self.summary.is_some());
        self.summary = Some(summary.into_owned());
        for said in self.list.drain(..covered.min(self.list.len())) {
            match said {
                Said::User(blocks) => self.earlier.push(blocks),
                Said::Program(_) | Said::Model(_) | Said::Answer(..) => facts.earlier_messages += 1,
            }
        }
    }

    /// The turns, in the format of the maker of the model that was asked last.
    pub(super) fn turns(self, facts: &mut LogFacts) -> Turns<'a> {
        let format = format_of("", self.model.as_deref().unwrap_or_default());
        let mut turns = Turns::new(format, self.model);
        for blocks in self.earlier {
            turns.said(blocks);
        }
        turns.turns.extend(self.summary.map(Turn::Summary));
        for said in self.list {
            match said {
                Said::User(blocks) | Said::Program(blocks) => turns.said(blocks),
                Said::Model(blocks) => turns.reply(blocks, 0),
                Said::Answer(call, answer) => {
                    let is_new = turns.calls.answer(&call, answer);
                    facts.dropped_results += usize::from(!is_new);
                }
            }
        }
        turns
    }
}

/// Whether events of a type hold nothing for the model that other events do not hold.
fn is_silent(kind: &str) -> bool {
    const ALONE: [&str; 17] = [
        "abort",
        "assistant.turn_start",
        "assistant.turn_end",
        "assistant.intent",
        "assistant.idle",
        "assistant.reasoning",
        "assistant.reasoning_delta",
        "assistant.message_start",
        "assistant.message_delta",
        "assistant.streaming_delta",
        "assistant.tool_call_delta",
        "assistant.usage",
        "system.message",
        "tool.execution_start",
        "tool.execution_progress",
        "tool.execution_partial_result",
        "tool.user_requested",
    ];
    const GROUPS: [&str; 14] = [
        "session.",
        "hook.",
        "permission.",
        "subagent.",
        "skill.",
        "mcp.",
        "model.",
        "user_input.",
        "elicitation.",
        "command.",
        "commands.",
        "external_tool.",
        "pending_messages.",
        "exit_plan_mode.",
    ];
    ALONE.contains(&kind) || GROUPS.iter().any(|group| kind.starts_with(group))
}
