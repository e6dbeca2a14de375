//! From entries to turns: what was said by whom, and which result answers which call.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::blocks;
use super::edits::{Edit, Edits};
use super::entries::{Entry, Kind};
use super::system::is_system;
use crate::json::{self, Members};
use crate::logs::records::not_understood;
use crate::logs::turns::blocks::{Answer, Block, mark};
use crate::logs::turns::{Turn, Turns, format_of};
use crate::model::log::LogFacts;

/// The turns that the entries stand for, as `edits` changed them. `provider` counts where nothing was answered
/// yet.
pub(super) fn turns<'a>(
    entries: &[&Entry<'a>],
    edits: &Edits<'_, 'a>,
    provider: &str,
    facts: &mut LogFacts,
) -> Turns<'a> {
    let last = entries.iter().rev().find_map(|entry| match &entry.kind {
        Kind::Message(message) if is_answer(message) => Some(message),
        _ => None,
    });
    let api = last.and_then(|message| message.text("api"));
    let model = last.and_then(|message| message.text("model"));
    let format = format_of(
        api.as_deref().unwrap_or(provider),
        model.as_deref().unwrap_or_default(),
    );
    let mut turns = Turns::new(format, model);
    for entry in entries {
        match &entry.kind {
            // They were read before.
            Kind::Message(message) if is_system(message) => {}
            Kind::Message(message) => {
                let edit = edits.get(entry);
                facts.edited_messages += usize::from(edit.is_some());
                let content = match edit {
                    Some(Edit::Hidden) => continue,
                    Some(Edit::Content(content)) => Some(content),
                    None => message.present("content"),
                };
                let counts = !edits.come_after(entry);
                let said = Said {
                    content,
                    counts,
                    is_edited: edit.is_some(),
                };
                turns.add(message, &said, api.as_deref(), facts);
            }
            Kind::Compaction { summary, .. } | Kind::BranchSummary(summary) => {
                turns
                    .turns
                    .push(Turn::Summary(summary.clone().into_owned()));
            }
            Kind::Edit { .. } | Kind::Other => {}
        }
    }
    turns
}

/// What the model sees of a message.
struct Said<'a> {
    content: Option<&'a RawValue>,
    is_edited: bool,
    /// Whether what the provider counted for it still holds.
    counts: bool,
}

/// Whether it is a response with something in it. One that was broken off names the API as well.
fn is_answer(message: &Members<'_>) -> bool {
    message.text("role").as_deref() == Some("assistant")
        && message
            .get("content")
            .map(|raw| raw.get())
            .is_some_and(|raw| !json::is_empty_list(raw) && raw != "\"\"" && raw != "{}")
}

impl<'a> Turns<'a> {
    fn add(
        &mut self,
        message: &Members<'a>,
        said: &Said<'a>,
        api: Option<&str>,
        facts: &mut LogFacts,
    ) {
        let content = said.content;
        match message.text("role").as_deref() {
            // pi sends the model nothing of it, so it answers nothing.
            Some("assistant") if is_broken_off(message) => facts.aborted_responses += 1,
            Some("assistant") => {
                let same_api = message.text("api").as_deref() == api;
                let tokens = if said.counts { tokens(message) } else { 0 };
                let blocks = blocks::read(content, same_api, &mut facts.dropped_blocks);
                self.reply(blocks, tokens);
            }
            Some("toolResult") => {
                let call = message.text("toolCallId").unwrap_or_default();
                let name = message.get("toolName").map(|raw| raw.get());
                let answer = Answer {
                    name: Cow::Borrowed(name.filter(|raw| json::is_text(raw)).unwrap_or(r#""""#)),
                    blocks: blocks::read_shown(content, &mut facts.dropped_blocks),
                    failed: message.is_true("isError"),
                };
                let is_new = self.calls.answer(&call, answer);
                facts.dropped_results += usize::from(!is_new);
            }
            Some("bashExecution") if message.is_true("excludeFromContext") => {
                facts.skipped_lines += 1;
            }
            Some("bashExecution") if !said.is_edited => {
                let mut blocks = vec![Block::unsigned(json::encode(&execution(message)))];
                mark(&mut blocks);
                self.turns.push(Turn::User(blocks));
            }
            Some("branchSummary" | "compactionSummary") => {
                let summary = message.text("summary").unwrap_or_default().into_owned();
                self.turns.push(Turn::Summary(summary));
            }
            Some("user") => {
                self.said(blocks::read_shown(content, &mut facts.dropped_blocks));
            }
            // A message of an extension may name no role.
            Some("custom" | "hookMessage" | "bashExecution") | None => {
                let mut blocks = blocks::read_shown(content, &mut 0);
                mark(&mut blocks);
                self.said(blocks);
            }
            Some(_) => not_understood(facts),
        }
    }
}

/// Whether a response ended before it was whole (LPI-6).
fn is_broken_off(message: &Members<'_>) -> bool {
    matches!(
        message.text("stopReason").as_deref(),
        Some("error" | "aborted")
    )
}

/// Tokens of the request and the response.
fn tokens(message: &Members<'_>) -> u64 {
    message.object("usage").map_or(0, |usage| {
        usage.sum(&["input", "output", "cacheRead", "cacheWrite"])
    })
}

/// A command that the user ran, in the words in which pi tells the model of it.
fn execution(message: &Members<'_>) -> String {
    let command = message.text("command").unwrap_or_default();
    let output = message.text("output").unwrap_or_default();
    let mut text = format!("Ran `{command}`\n");
    if output.is_empty() {
        text.push_str("(no output)");
    } else {
        text.push_str(&format!("```\n{output}\n```"));
    }
    if message.is_true("cancelled") {
        text.push_str("\n\n(command cancelled)");
    } else if let Some(code) = message.raw("exitCode")
        && code != "0"
    {
        text.push_str(&format!("\n\nCommand exited with code {code}"));
    }
    if message.is_true("truncated")
        && let Some(path) = message.text("fullOutputPath")
    {
        text.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    text
}
