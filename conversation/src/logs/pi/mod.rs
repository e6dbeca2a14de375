//! pi: a line or a tree of entries, in pi's own words, translated to those of the provider.

mod entries;
mod path;
mod edits;
mod system;
mod turns;
mod blocks;
mod ids;
mod anthropic;
mod chat;
mod responses;
mod gemini;

use std::borrow::Cow;

use super::Log;
use super::body::Body;
use super::line_members::LineMembers;
use super::pairing::NO_RESULT;
use crate::deadline::Deadline;
use crate::json;
use crate::model::format::Format;
use crate::model::log::{LogError, LogFacts, LogKind};
use blocks::{Answer, Block};
use edits::Edits;
use system::System;
use turns::{Turn, Turns};

/// Whether a line is one of pi.
pub(super) fn is_line(line: &LineMembers<'_>) -> bool {
    let has = |key| line.has(key);
    match line.tag() {
        Some("session") => has("id") || has("version"),
        // Lines of other programs hold a message, too. One of pi's says when, or which API it is of.
        Some("message") => ["timestamp", "api", "toolCallId"]
            .iter()
            .any(|key| line.has_in_message(key)),
        Some("model_change") => has("provider") && has("modelId"),
        Some("thinking_level_change") => has("thinkingLevel"),
        _ => false,
    }
}

/// Reads the way to the newest entry (LPI-1), as the provider of its last response is sent it.
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    let (session, mut facts) = entries::read(text, deadline)?;
    let path = path::path(&session, &mut facts);
    let chosen = path::chosen(&path, &mut facts);
    let turns = turns::turns(&chosen, &Edits::of(&path), &session.provider, &mut facts);
    let mut body = Body::new(LogKind::Pi, turns.format);
    body.model.clone_from(&turns.model);
    System::of(&path).write(&mut body);
    match turns.format {
        Format::Anthropic => write::<anthropic::Anthropic>(turns, &mut body, &mut facts),
        Format::OpenAiChat => write::<chat::Chat>(turns, &mut body, &mut facts),
        Format::OpenAiResponses => {
            write::<responses::Responses>(turns, &mut body, &mut facts);
        }
        Format::Gemini => write::<gemini::Gemini<'_>>(turns, &mut body, &mut facts),
    }
    body.finish(facts)
}

/// How a wire format spells what happened.
trait Translate<'a>: Default {
    /// Adds a message of the user.
    fn user(&mut self, blocks: &[Block<'a>], body: &mut Body<'a>);

    /// Adds a response, with the tokens counted up to it. False where nothing of it can be said
    /// in this format.
    fn reply(&mut self, blocks: &[Block<'a>], tokens: u64, body: &mut Body<'a>) -> bool;

    /// Adds the answers to the calls of the response before, in their order. Ids are the body's.
    fn answers(&mut self, answers: &[(String, Answer<'a>)], body: &mut Body<'a>);

    /// Whether calls of the last batch may wait while others of it are answered.
    fn may_wait(_batch: &[(Cow<'a, str>, Option<Answer<'a>>)]) -> bool {
        false
    }

    /// Adds a summary that pi recorded, as a message of its own.
    fn summary(&mut self, text: &str, body: &mut Body<'a>) {
        body.push_summary(text);
    }

    /// Adds what is still held back.
    fn finish(self, _body: &mut Body<'a>) {}
}

fn write<'a, T: Translate<'a>>(turns: Turns<'a>, body: &mut Body<'a>, facts: &mut LogFacts) {
    let Turns {
        turns, mut calls, ..
    } = turns;
    let mut target = T::default();
    let last = turns.len().saturating_sub(1);
    for (index, turn) in turns.into_iter().enumerate() {
        match turn {
            Turn::Summary(text) => {
                facts.recorded_summaries += 1;
                target.summary(&text, body);
            }
            Turn::User(blocks) => target.user(&blocks, body),
            Turn::Reply { blocks, tokens } => {
                if !target.reply(&blocks, tokens, body) {
                    facts.aborted_responses += 1;
                }
                let names = blocks.iter().filter_map(Block::call_name);
                let batch = calls.batch(index, index == last);
                let may_wait = index == last && T::may_wait(&batch);
                let mut answers = Vec::with_capacity(batch.len());
                for ((id, answer), name) in batch.into_iter().zip(names) {
                    if answer.is_none() && may_wait {
                        continue;
                    }
                    facts.completed_calls += usize::from(answer.is_none());
                    answers.push((id.into_owned(), answer.unwrap_or_else(|| missing(name))));
                }
                if !answers.is_empty() {
                    target.answers(&answers, body);
                }
            }
        }
    }
    target.finish(body);
}

/// The answer to a call that has none (LPI-5). `name` is raw JSON.
fn missing(name: &str) -> Answer<'_> {
    Answer {
        name: name.into(),
        blocks: vec![Block::Text {
            text: json::encode(NO_RESULT).into(),
            signature: None,
        }],
        failed: true,
    }
}
