//! From messages to turns. A message of the model's may hold several steps, and each call with its output.

use std::borrow::Cow;

use super::parts;
use super::session::{Seen, Speaker};
use crate::json::{self, Members};
use crate::logs::records::not_understood;
use crate::logs::turns::blocks::{Answer, Block, mark};
use crate::logs::turns::{Turn, Turns};
use crate::model::format::Format;
use crate::model::log::LogFacts;

/// What the model is told of work that the user gave to another agent.
const SUBTASK: &str = r#""The following tool was executed by the user""#;
/// The output of a call that the program cleared.
const CLEARED: &str = r#""[Old tool result content cleared]""#;

pub(super) struct Writer<'a> {
    pub(super) turns: Turns<'a>,
    /// Who answered last. What it signed is sent again, what another one signed is not.
    pub(super) speaker: Speaker<'a>,
}

/// A step as far as it was read.
#[derive(Default)]
struct Step<'a> {
    blocks: Vec<Block<'a>>,
    answers: Vec<(Cow<'a, str>, Answer<'a>)>,
    tokens: u64,
}

impl<'a> Writer<'a> {
    /// Adds a message.
    pub(super) fn add(&mut self, seen: Seen<'_, 'a>, facts: &mut LogFacts) {
        let message = seen.message;
        let parts = message.parts.get(..seen.parts).unwrap_or_default();
        if message.is_summary() {
            self.summary(parts, facts);
        } else if message.failed() {
            facts.aborted_responses += 1;
        } else if message.is_model() {
            let is_same = message.speaker() == self.speaker;
            let counted = message.info.object("tokens").map_or(0, |all| tokens(&all));
            let counted = if seen.is_kept { 0 } else { counted };
            self.model(parts, is_same, counted, facts);
        } else if message.info.text("role").as_deref() == Some("user") {
            self.user(parts, facts);
        } else {
            not_understood(facts);
        }
    }

    fn summary(&mut self, parts: &[Members<'a>], facts: &mut LogFacts) {
        let texts: Vec<Cow<'_, str>> = parts
            .iter()
            .filter(|part| part.text("type").as_deref() == Some("text"))
            .filter_map(|part| part.text("text"))
            .collect();
        self.turns.turns.push(Turn::Summary(texts.join("\n\n")));
        // A summary calls nothing.
        let calls = parts
            .iter()
            .filter(|part| part.text("type").as_deref() == Some("tool"));
        facts.dropped_calls += calls.count();
    }

    fn user(&mut self, parts: &[Members<'a>], facts: &mut LogFacts) {
        let mut said = Vec::new();
        for part in parts {
            match part.text("type").as_deref() {
                Some("text") if part.is_true("ignored") => {}
                Some("text") => {
                    let mut text: Vec<_> = parts::text(part, None).into_iter().collect();
                    if part.is_true("synthetic") {
                        mark(&mut text);
                    }
                    said.append(&mut text);
                }
                // Their texts stand in parts of the program's.
                Some("file") if parts::is_text_file(part) => {}
                Some("file") => match parts::picture(part) {
                    Some(picture) => said.push(picture),
                    None => facts.dropped_attachments += 1,
                },
                Some("subtask") => {
                    let mut text = [Block::unsigned(SUBTASK)];
                    mark(&mut text);
                    said.extend(text);
                }
                Some(
                    "agent" | "compaction" | "snapshot" | "patch" | "step-start" | "step-finish",
                ) => {}
                _ => facts.dropped_blocks += 1,
            }
        }
        self.turns.said(said);
    }

    /// Adds the steps of a message. `counted` is what the provider counted up to its end.
    fn model(&mut self, parts: &[Members<'a>], is_same: bool, counted: u64, facts: &mut LogFacts) {
        let mut step = Step::default();
        for part in parts {
            match part.text("type").as_deref() {
                Some("step-start") => self.end(std::mem::take(&mut step)),
                Some("step-finish") if counted > 0 => {
                    step.tokens = part.object("tokens").map_or(0, |all| tokens(&all));
                }
                Some("text") => {
                    let signature = self.signature(part, is_same, &["thoughtSignature"]);
                    let signature = signature.filter(|_| self.turns.format == Format::Gemini);
                    step.blocks.extend(parts::text(part, signature));
                }
                Some("reasoning") => match self.thinking(part, is_same) {
                    Some(thinking) => step.blocks.push(thinking),
                    None => facts.dropped_blocks += usize::from(parts::text(part, None).is_some()),
                },
                Some("tool") => self.call(part, is_same, &mut step, facts),
                Some("step-finish" | "snapshot" | "patch" | "retry" | "compaction") => {}
                Some("file") => facts.dropped_attachments += 1,
                _ => facts.dropped_blocks += 1,
            }
        }
        // One that was stopped has no end of its own.
        if step.tokens == 0 {
            step.tokens = counted;
        }
        self.end(step);
    }

    /// Adds a step, and the outputs of its calls.
    fn end(&mut self, step: Step<'a>) {
        if step.blocks.is_empty() {
            return;
        }
        self.turns.reply(step.blocks, step.tokens);
        for (call, answer) in step.answers {
            self.turns.calls.answer(&call, answer);
        }
    }

    /// Adds a call with its output, if it has one.
    fn call(&self, part: &Members<'a>, is_same: bool, step: &mut Step<'a>, facts: &mut LogFacts) {
        let Some(name) = part.raw_text("tool") else {
            facts.dropped_calls += 1;
            return;
        };
        let logged = part.text("callID").unwrap_or_default();
        let state = part.object("state");
        let input = state.as_ref().and_then(|state| state.get("input"));
        let arguments = input.map_or("{}", |input| input.get());
        let signature = self.signature(part, is_same, &["thoughtSignature"]);
        step.blocks.push(Block::Call {
            logged: logged.clone(),
            id: String::new(),
            name,
            arguments: Cow::Borrowed(if json::is_object(arguments) {
                arguments
            } else {
                "{}"
            }),
            signature: signature.filter(|_| self.turns.format == Format::Gemini),
        });
        if let Some((blocks, failed)) = state.and_then(|state| output(&state, facts)) {
            let name = Cow::Borrowed(name);
            let answer = Answer {
                name,
                blocks,
                failed,
            };
            step.answers.push((logged, answer));
        }
    }

    /// Thinking that the model takes again: it is signed by the model that is asked next.
    fn thinking(&self, part: &Members<'a>, is_same: bool) -> Option<Block<'a>> {
        let text = part.raw_text("text")?;
        let sealed = self
            .signature(part, is_same, &["redactedData"])
            .filter(|_| self.turns.format == Format::Anthropic);
        let signature = match self.turns.format {
            Format::Anthropic => self.signature(part, is_same, &["signature"]),
            Format::Gemini => self.signature(part, is_same, &["thoughtSignature"]),
            Format::OpenAiChat | Format::OpenAiResponses | Format::BedrockConverse => None,
        };
        Some(Block::Thinking {
            text,
            signature: sealed.or(signature)?,
            redacted: sealed.is_some(),
        })
    }

    /// What the provider attached to a part, under one of these names. Each provider has an object of its own.
    fn signature(&self, part: &Members<'a>, is_same: bool, names: &[&str]) -> Option<&'a str> {
        let metadata = part.object("metadata").filter(|_| is_same)?;
        metadata.0.iter().find_map(|(_, of_provider)| {
            let of_provider = json::members(of_provider.get())?;
            names.iter().find_map(|name| {
                let raw = of_provider.raw_text(name)?;
                (!json::is_blank(raw)).then_some(raw)
            })
        })
    }
}

/// What a tool returned, and whether it failed; `None` if it did not return.
fn output<'a>(state: &Members<'a>, facts: &mut LogFacts) -> Option<(Vec<Block<'a>>, bool)> {
    let said = |raw: &'a str| Vec::from_iter(Block::text(raw, None));
    match state.text("status").as_deref() {
        Some("completed") => {
            let time = state.object("time");
            if time.is_some_and(|time| time.present("compacted").is_some()) {
                return Some((said(CLEARED), false));
            }
            let mut blocks = said(state.raw_text("output").unwrap_or(r#""""#));
            for attachment in state.list("attachments").unwrap_or_default() {
                let members = json::members(attachment.get());
                match members.and_then(|members| parts::picture(&members)) {
                    Some(picture) => blocks.push(picture),
                    None => facts.dropped_attachments += 1,
                }
            }
            Some((blocks, false))
        }
        Some("error") => {
            // What a tool wrote before the user stopped it.
            let metadata = state.object("metadata");
            let written = metadata
                .filter(|metadata| metadata.is_true("interrupted"))
                .and_then(|metadata| metadata.raw_text("output"));
            let is_failed = written.is_none();
            let error = state.raw_text("error").unwrap_or(r#""""#);
            Some((said(written.unwrap_or(error)), is_failed))
        }
        _ => None,
    }
}

/// Tokens of the request and the response.
fn tokens(counts: &Members<'_>) -> u64 {
    let cache = counts.object("cache");
    let cached = cache.map_or(0, |cache| cache.sum(&["read", "write"]));
    match counts.sum(&["total"]) {
        0 => counts
            .sum(&["input", "output", "reasoning"])
            .saturating_add(cached),
        total => total,
    }
}
