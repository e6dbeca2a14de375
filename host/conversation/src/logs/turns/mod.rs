//! Logs in a program's own words: what was said by whom, translated to the words of the provider. How a program
//! spells its blocks, its own folder knows.

mod anthropic;
pub(super) mod blocks;
mod chat;
mod gemini;
mod ids;
mod responses;

use std::borrow::Cow;

use super::Log;
use super::body::Body;
use super::pairing::{Calls, NO_RESULT};
use crate::json;
use crate::model::format::Format;
use crate::model::log::{LogError, LogFacts, LogKind};
use blocks::{Answer, Block};
use ids::Ids;

/// What was said, in order.
pub(super) struct Turns<'a> {
    /// The wire format of the body.
    pub(super) format: Format,
    model: Option<Cow<'a, str>>,
    pub(super) turns: Vec<Turn<'a>>,
    pub(super) calls: Calls<'a, Answer<'a>>,
}

pub(super) enum Turn<'a> {
    Summary(String),
    User(Vec<Block<'a>>),
    Reply { blocks: Vec<Block<'a>>, tokens: u64 },
}

/// The wire format that an API, or else a provider, speaks; of one that is not known, that of the
/// model's maker.
pub(super) fn format_of(api: &str, model: &str) -> Format {
    match api {
        "openai" | "openai-codex" => Format::OpenAiResponses,
        api if api.ends_with("completions") => Format::OpenAiChat,
        api if api.ends_with("responses") => Format::OpenAiResponses,
        // Also where another company runs the model.
        api if api.contains("anthropic") || api.starts_with("bedrock") => Format::Anthropic,
        api if api.starts_with("google") => Format::Gemini,
        _ if model.contains("claude") => Format::Anthropic,
        _ if model.contains("gemini") => Format::Gemini,
        _ => Format::OpenAiChat,
    }
}

impl<'a> Turns<'a> {
    /// No turns, for the model that answered last.
    pub(super) fn new(format: Format, model: Option<Cow<'a, str>>) -> Self {
        Self {
            format,
            model,
            turns: Vec::new(),
            calls: Calls::default(),
        }
    }

    /// Adds what the user said, if it is anything.
    pub(super) fn said(&mut self, blocks: Vec<Block<'a>>) {
        if !blocks.is_empty() {
            self.turns.push(Turn::User(blocks));
        }
    }

    /// Adds a response, with what the provider counted up to it. Its calls wait for their answers.
    pub(super) fn reply(&mut self, mut blocks: Vec<Block<'a>>, tokens: u64) {
        let mut ids = Ids::default();
        let index = self.turns.len();
        for block in &mut blocks {
            if let Block::Call { logged, id, .. } = block {
                *id = ids.unique(logged, self.format);
                self.calls
                    .open(index, logged.clone(), Cow::Owned(id.clone()));
            }
        }
        self.turns.push(Turn::Reply { blocks, tokens });
    }

    /// Writes the body.
    ///
    /// # Errors
    /// There are no messages, or most of the log was not understood.
    pub(super) fn finish(self, kind: LogKind, facts: LogFacts) -> Result<Log, LogError> {
        let body = Body::new(kind, self.format);
        self.finish_in(body, facts)
    }

    /// The same in a body that has instructions or tools already.
    ///
    /// # Errors
    /// There are no messages, or most of the log was not understood.
    pub(super) fn finish_in(
        self,
        mut body: Body<'a>,
        mut facts: LogFacts,
    ) -> Result<Log, LogError> {
        body.model.clone_from(&self.model);
        match self.format {
            // No log is written in the format of Bedrock (`format_of`).
            Format::Anthropic | Format::BedrockConverse => {
                write::<anthropic::Anthropic>(self, &mut body, &mut facts);
            }
            Format::OpenAiChat => write::<chat::Chat>(self, &mut body, &mut facts),
            Format::OpenAiResponses => {
                write::<responses::Responses>(self, &mut body, &mut facts);
            }
            Format::Gemini => write::<gemini::Gemini<'_>>(self, &mut body, &mut facts),
        }
        body.finish(facts)
    }
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

    /// Adds a summary that the program recorded, as a message of its own.
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
            Turn::Summary(text) => target.summary(&text, body),
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
                    let mut answer = answer.unwrap_or_else(|| missing(name));
                    // Not every program names the tool again.
                    if json::is_blank(&answer.name) {
                        answer.name = Cow::Borrowed(name);
                    }
                    answers.push((id.into_owned(), answer));
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
        blocks: vec![Block::unsigned(json::encode(NO_RESULT))],
        failed: true,
    }
}
