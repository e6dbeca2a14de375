//! Cline and Roo Code: `api_conversation_history.json`, one list of Anthropic's messages, for whatever provider. Calls
//! are blocks, or XML in the texts, which stays text. What the model sees no more stays in the list.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::Log;
use super::anthropic::blocks::{blocks_of, joined_texts, mark_inserted};
use super::anthropic::flow::Flow;
use super::anthropic::foreign;
use super::body::Body;
use super::records::{self, not_understood};
use crate::deadline::Deadline;
use crate::json::Members;
use crate::model::format::Format;
use crate::model::log::{LogError, LogFacts, LogKind};

/// Members of a message that only these programs write.
const MEMBERS: [&str; 4] = [
    "modelInfo",
    "isSummary",
    "condenseParent",
    "truncationParent",
];

/// What these programs write around and beside the user's words.
const TAGS: [&str; 3] = ["<task>", "<user_message>", "<environment_details>"];

/// Whether an element of a list is a message of theirs. They write when it was made, as no request does.
pub(super) fn is_message(message: &Members<'_>) -> bool {
    let role = message.text("role");
    let is_said = matches!(role.as_deref(), Some("user" | "assistant"));
    let stamp = message.get("ts").map_or("", RawValue::get);
    if !is_said || stamp.parse::<u64>().is_err() {
        return false;
    }
    let content = message.get("content").map_or("", RawValue::get);
    MEMBERS.iter().any(|key| message.get(key).is_some())
        || TAGS.iter().any(|tag| content.contains(tag))
}

/// Reads what the model sees.
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    let kind = LogKind::Cline;
    let mut messages = Vec::new();
    let mut facts = records::each(text, deadline, kind, |message, _| messages.push(message))?;
    let hidden = Hidden::of(&messages);
    let mut body = Body::new(kind, Format::Anthropic);
    let mut flow = Flow::default();
    for (number, message) in messages.iter().enumerate() {
        if hidden.has(message) {
            facts.earlier_messages += 1;
        } else {
            add(number, message, &mut flow, &mut body, &mut facts);
        }
    }
    flow.write(&mut body, &mut facts);
    foreign::leave_out_members(&mut body);
    body.finish(facts)
}

/// Adds a message, which is the response with this number if it is the model's.
fn add<'a>(
    number: usize,
    message: &Members<'a>,
    flow: &mut Flow<'a>,
    body: &mut Body<'a>,
    facts: &mut LogFacts,
) {
    let role = message.text("role");
    // Reasoning of OpenAI's, as a message of its own.
    if role.is_none() && message.text("type").as_deref() == Some("reasoning") {
        facts.dropped_blocks += 1;
        return;
    }
    let Some(mut blocks) = blocks_of(message, "content", facts) else {
        not_understood(facts);
        return;
    };
    foreign::leave_out(&mut blocks, facts);
    match role.as_deref() {
        // Older versions write it as the model's.
        Some("user" | "assistant") if message.is_true("isSummary") => {
            flow.summary(joined_texts(&blocks));
        }
        Some("assistant") => {
            let model = message.object("modelInfo");
            if let Some(model) = model.and_then(|model| model.text("modelId")) {
                body.model = Some(model);
            }
            // What the provider counted may leave out what Cline did not send: no message tells which it left out.
            flow.reply(number, 0, blocks, facts);
        }
        Some("user") => {
            if message.is_true("isTruncationMarker") {
                mark_inserted(&mut blocks);
            }
            flow.said(blocks);
        }
        _ => not_understood(facts),
    }
}

/// What stands in the place of messages: ids of summaries and of marks.
struct Hidden<'m> {
    summaries: HashSet<&'m str>,
    marks: HashSet<&'m str>,
}

impl<'m> Hidden<'m> {
    fn of(messages: &'m [Members<'_>]) -> Self {
        let ids = |flag: &str, key: &str| -> HashSet<&'m str> {
            messages
                .iter()
                .filter(|message| message.is_true(flag))
                .filter_map(|message| message.raw(key))
                .collect()
        };
        Self {
            summaries: ids("isSummary", "condenseId"),
            marks: ids("isTruncationMarker", "truncationId"),
        }
    }

    /// Whether something stands in the place of a message. Where the user went back behind that, it counts again.
    fn has(&self, message: &Members<'_>) -> bool {
        let names = |key: &str, ids: &HashSet<&str>| {
            let id = message.raw(key);
            id.is_some_and(|id| ids.contains(id))
        };
        names("condenseParent", &self.summaries) || names("truncationParent", &self.marks)
    }
}
