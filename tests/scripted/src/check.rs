//! What a provider checks, and counts.

use std::collections::{HashMap, HashSet};

use baler_host::conversation::document::Prefix;
use baler_host::{Conversation, Format};
use serde::Serialize;
use serde_json::{Value, json};

use crate::answers::{Answer, Said};
use crate::request;
use crate::script::{Call, Script};

/// Tokens of a request, as a provider bills them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens that were not in the cache.
    pub written: u32,
    /// Tokens that were.
    pub cached: u32,
}

/// What a provider has seen.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// Requests that were answered.
    pub answered: usize,
    /// Steps whose output came back.
    pub steps: usize,
    /// Whether the model has ended the session.
    pub is_done: bool,
    /// Why requests were refused, other than for their size.
    pub refused: Vec<String>,
    /// Whether the model got the output of the first step back, after the last one.
    pub retrieved: bool,
    /// Requests that were refused as too long.
    pub too_long: usize,
    /// Requests of the session without the task.
    pub without_task: usize,
    /// Tokens of the largest request that was answered.
    pub largest: u32,
    /// Tokens of all requests.
    pub tokens: Usage,
    /// Streams whose reader went away.
    pub broken_off: usize,
    /// Times that the cache held less of the history than of the request before.
    pub breaks: usize,
    /// Of the tokens of requests without such a break, the share that came from the cache.
    pub cached_share: f64,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) report: Report,
    /// What requests began with.
    cache: HashSet<Prefix>,
    /// What thinking was made behind, by its signature.
    thinking: HashMap<String, Prefix>,
    /// The step whose output is waited for.
    step: Option<usize>,
    /// Whether the model has looked for the tool that retrieves.
    has_searched: bool,
    between: Usage,
    /// Number of messages of the request before.
    before: usize,
}

impl State {
    pub(crate) fn refuse(&mut self, why: String) {
        self.report.refused.push(why);
    }

    pub(crate) fn step(
        &mut self,
        script: &Script,
        conversation: &Conversation,
        body: &Value,
    ) -> Answer {
        if let Some(broken) = conversation.broken().next() {
            let why = format!(
                "{}: {} (message {:?})",
                broken.rule, broken.what, broken.message
            );
            self.refuse(why.clone());
            return Answer::Error(why);
        }
        let tokens = conversation.tokens();
        if tokens > script.window {
            self.report.too_long += 1;
            return Answer::TooLong {
                tokens,
                window: script.window,
            };
        }
        let prefixes = conversation.prefixes();
        if let Some(why) = self.unbound_thinking(conversation, &prefixes) {
            self.refuse(why.clone());
            return Answer::Error(why);
        }
        self.report.answered += 1;
        self.report.largest = self.report.largest.max(tokens);
        let tools: Vec<&str> = conversation
            .tools()
            .iter()
            .map(|tool| &*tool.name)
            .collect();
        let tools = if tools.is_empty() {
            request::items_of_tools(body)
        } else {
            tools
        };
        let usage = self.count(conversation, &prefixes, !tools.is_empty());
        // With no character spelled by its number, as some clients send them.
        let document = body.to_string();
        if let Some(step) = self.step
            && script.has_outputs(step, &document)
        {
            self.step = None;
            self.report.steps = step + 1;
        }
        let next = self.step.unwrap_or(self.report.steps);
        let calls = match next < script.steps {
            true => script.calls(next, &tools),
            false => Vec::from_iter(self.retrieve(conversation, &tools)),
        };
        let is_session = !tools.is_empty();
        if is_session && !document.contains(&script.task) {
            self.report.without_task += 1;
        }
        let signature = format!("signed-{}-{next}", self.thinking.len());
        if is_session && let Some(last) = prefixes.last() {
            self.thinking.insert(signature.clone(), *last);
        }
        if calls.is_empty() {
            self.report.is_done |= is_session && self.report.steps >= script.steps;
        } else {
            self.step = (next < script.steps).then_some(next);
        }
        let is_thinking = request::wants_thinking(conversation.format(), body);
        Answer::Said(Said {
            thinking: (is_thinking && !calls.is_empty()).then_some("The next cellar."),
            calls,
            text: request::wanted_json(body).map_or_else(
                || {
                    format!(
                        "All {} cellars are counted. 全部の蔵を数えました。",
                        self.report.steps
                    )
                },
                ToOwned::to_owned,
            ),
            signature,
            usage,
            number: self.report.answered,
        })
    }

    /// Returns a call for what the first step put out, by the tool for that: first a search, then what it found.
    fn retrieve(&mut self, conversation: &Conversation, tools: &[&str]) -> Option<Call> {
        let offered = tools
            .iter()
            .find(|name| name.ends_with("retrieve"))
            .copied();
        // Claude Code and Codex offer it only to a model that searches for it.
        let is_named = conversation.document().contains("mcp__baler");
        let search = if tools.contains(&"ToolSearch") {
            Some("ToolSearch")
        } else {
            (conversation.format() == Format::OpenAiResponses).then_some("tool_search")
        };
        let search = search.filter(|_| is_named);
        let name = offered.or(search.map(|_| "mcp__baler__retrieve"))?;
        if let (None, Some(search)) = (offered, search)
            && !std::mem::replace(&mut self.has_searched, true)
        {
            return Some(Call {
                id: "call_search".to_owned(),
                name: search.to_owned(),
                arguments: json!({"query": "select:mcp__baler__retrieve", "limit": 1, "max_results": 1}),
            });
        }
        let code = Script::code(0);
        let last = conversation.all_messages().last()?;
        let last = conversation.raw(last);
        let arguments = if let Some((_, found)) = last.split_once("retrieve one with `reference`:")
        {
            let is_reference =
                |word: &&str| word.len() == 20 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            // Breaks of lines are spelled, since this is JSON.
            let found = found.replace("\\n", " ");
            let reference = found
                .split(|c: char| !c.is_ascii_alphanumeric())
                .find(is_reference)?
                .to_owned();
            json!({"reference": reference})
        } else if last.contains("Removed earlier (") {
            self.report.retrieved = last.contains(&code);
            return None;
        } else {
            json!({"query": code})
        };
        let id = format!("call_retrieve_{}", self.report.answered);
        Some(Call {
            id,
            name: name.to_owned(),
            arguments,
        })
    }

    /// Returns why thinking is refused: it stands behind other messages than those that it was made behind.
    fn unbound_thinking(&self, conversation: &Conversation, prefixes: &[Prefix]) -> Option<String> {
        if conversation.format() != Format::Anthropic {
            return None;
        }
        conversation.all_messages().iter().enumerate().find_map(|(index, message)| {
            let value: Value = serde_json::from_str(conversation.raw(message)).ok()?;
            let blocks = value["content"].as_array()?;
            let wrong = blocks.iter().filter_map(|block| block["signature"].as_str()).find(|signature| {
                self.thinking.get(*signature) != prefixes.get(index)
            })?;
            Some(format!("Invalid `signature` in `thinking` block. The block is bound to a different conversation. ({wrong}, message {index})"))
        })
    }

    /// Counts what comes from the cache: the messages that an earlier request began with. By bytes, since messages have no
    /// counts of their own.
    fn count(
        &mut self,
        conversation: &Conversation,
        prefixes: &[Prefix],
        is_session: bool,
    ) -> Usage {
        let known = prefixes
            .iter()
            .rposition(|prefix| self.cache.contains(prefix))
            .unwrap_or(0);
        let bytes = |range: std::ops::Range<usize>| -> usize {
            let messages = &conversation.all_messages()[range];
            messages
                .iter()
                .map(|message| conversation.raw(message).len())
                .sum()
        };
        let (held, all) = (bytes(0..known), bytes(0..prefixes.len() - 1).max(1));
        let overhead = conversation.overhead();
        let of_messages = conversation.tokens() - overhead.min(conversation.tokens());
        let mut cached = (f64::from(of_messages) * held as f64 / all as f64) as u32;
        if known > 0 {
            cached += overhead;
        }
        let usage = Usage {
            written: conversation.tokens() - cached.min(conversation.tokens()),
            cached,
        };
        self.cache.extend(prefixes.iter().skip(1));
        self.report.tokens.written += usage.written;
        self.report.tokens.cached += usage.cached;
        if is_session {
            // Only a change of what was sent before makes the cache hold less than the whole request before.
            if known < self.before {
                self.report.breaks += 1;
            } else {
                self.between.written += usage.written;
                self.between.cached += usage.cached;
            }
            self.before = prefixes.len() - 1;
            let all = self.between.written + self.between.cached;
            self.report.cached_share = f64::from(self.between.cached) / f64::from(all.max(1));
        }
        usage
    }
}
