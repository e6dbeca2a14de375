//! Factory Droid: a file of lines with Anthropic's messages, for whatever provider. It is loaded in the order of its
//! lines, whatever their links say.

mod compaction;

use super::Log;
use super::anthropic::blocks::{any_result, blocks_of, mark_inserted};
use super::anthropic::flow::Flow;
use super::anthropic::foreign;
use super::anthropic::reply::reply;
use super::body::Body;
use super::line_members::LineMembers;
use super::lines::Lines;
use super::records::not_understood;
use crate::deadline::Deadline;
use crate::json::Members;
use crate::model::format::Format;
use crate::model::log::{LogError, LogFacts, LogKind};
use compaction::Compaction;

/// Whether a line is one of Droid's alone. Its messages look like those of pi.
pub(super) fn is_line(line: &LineMembers<'_>) -> bool {
    let has = |key| line.has(key);
    match line.tag.as_deref() {
        Some("session_start") => has("id") && (has("version") || has("cwd") || has("title")),
        Some("compaction_state") => has("summaryText"),
        _ => false,
    }
}

/// Reads what the model sees: the newest summary, the messages after its anchor, and all later messages.
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    let mut lines = Lines::new(text, deadline);
    let mut messages: Vec<Members<'_>> = Vec::new();
    let mut compaction = None;
    while let Some(mut line) = lines.next() {
        match line.text("type").as_deref() {
            Some("message") => {
                // All of them are kept, and short ones have more room than members.
                line.0.shrink_to_fit();
                messages.push(line);
                continue;
            }
            Some("compaction_state") => match Compaction::of(line, messages.len()) {
                Some(newest) => compaction = Some(newest),
                None => not_understood(&mut lines.facts),
            },
            Some("session_start" | "session_end" | "todo_state" | "agent_turn_outcome") => {
                lines.facts.skipped_lines += 1;
            }
            _ => not_understood(&mut lines.facts),
        }
    }
    let mut facts = lines.finish(LogKind::Droid)?;
    let mut flow = Flow::default();
    let mut gone = 0;
    if let Some(compaction) = compaction {
        gone = compaction.first_kept(&messages);
        facts.earlier_messages = gone;
        compaction.write(&mut flow, &mut facts);
    }
    let mut body = Body::new(LogKind::Droid, Format::Anthropic);
    for (number, line) in messages.iter().enumerate().skip(gone) {
        add(number, line, &mut flow, &mut body, &mut facts);
    }
    flow.write(&mut body, &mut facts);
    foreign::leave_out_members(&mut body);
    body.finish(facts)
}

/// Adds a message, which is the response with this number if it is the model's.
fn add<'a>(
    number: usize,
    line: &Members<'a>,
    flow: &mut Flow<'a>,
    body: &mut Body<'a>,
    facts: &mut LogFacts,
) {
    let Some(message) = line.object("message") else {
        not_understood(facts);
        return;
    };
    let visibility = message.text("visibility");
    // What hooks and the program tell the user.
    if visibility.as_deref() == Some("user_only") {
        facts.skipped_lines += 1;
        return;
    }
    let is_programs =
        visibility.as_deref() == Some("llm_only") || message.is_true("hiddenFromUserViews");
    match message.text("role").as_deref() {
        Some("assistant") => {
            let Some(mut reply) = reply(line, facts) else {
                not_understood(facts);
                return;
            };
            foreign::leave_out(&mut reply.blocks, facts);
            let reasoning = message.text("chatCompletionReasoningContent");
            facts.dropped_blocks +=
                usize::from(reasoning.is_some_and(|text| !text.trim().is_empty()));
            body.model = reply.model.or(body.model.take());
            flow.reply(number, reply.tokens, reply.blocks, facts);
        }
        Some("user") => {
            let Some(mut blocks) = blocks_of(&message, "content", facts) else {
                not_understood(facts);
                return;
            };
            foreign::leave_out(&mut blocks, facts);
            if !any_result(&blocks) {
                flow.stop_waiting();
            }
            if is_programs {
                mark_inserted(&mut blocks);
            }
            flow.said(blocks);
        }
        _ => not_understood(facts),
    }
}
