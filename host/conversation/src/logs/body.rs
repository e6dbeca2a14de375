//! The request body that a log becomes.

use std::borrow::Cow;

use serde_json::Value;

use super::Log;
use crate::formats::gemini;
use crate::json;
use crate::marks::{self, LEFT_OUT};
use crate::model::format::Format;
use crate::model::log::{LogError, LogFacts, LogKind};
use crate::model::message::Role;

/// A body, its pieces still borrowed from the log as far as they stand there.
pub(super) struct Body<'a> {
    kind: LogKind,
    format: Format,
    messages: Vec<Message<'a>>,
    /// How many of them hold the instructions.
    instruction_messages: usize,
    /// The instructions, as a raw JSON text.
    pub(super) instructions: Option<Cow<'a, str>>,
    /// Definitions of tools, as raw JSON.
    tools: Vec<String>,
    pub(super) model: Option<Cow<'a, str>>,
    reported: Option<(u32, usize)>,
    /// Which messages are recorded summaries.
    summaries: Vec<usize>,
    /// Which messages hold results that came after the model's newest answer, which stands behind them.
    late: Vec<usize>,
}

/// One element of the list of messages.
pub(super) enum Message<'a> {
    /// Raw JSON of all of it.
    Whole(Cow<'a, str>),
    /// A role, and the raw JSON of the content.
    Said(&'static str, &'a str),
    /// A role, and the raw JSON of each block or part.
    Parts(&'static str, Vec<Cow<'a, str>>),
}

impl<'a> Body<'a> {
    pub(super) fn new(kind: LogKind, format: Format) -> Self {
        Self {
            kind,
            format,
            messages: Vec::new(),
            instruction_messages: 0,
            instructions: None,
            tools: Vec::new(),
            model: None,
            reported: None,
            summaries: Vec::new(),
            late: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, mut message: Message<'a>) {
        // What was put together has up to twice the room that it needs.
        match &mut message {
            Message::Whole(Cow::Owned(raw)) => raw.shrink_to_fit(),
            Message::Parts(_, parts) => {
                for part in parts {
                    if let Cow::Owned(raw) = part {
                        raw.shrink_to_fit();
                    }
                }
            }
            _ => {}
        }
        self.messages.push(message);
    }

    /// Adds a message of the user that is exactly this text.
    pub(super) fn push_text(&mut self, text: &str) {
        let message = self.format.text_message(Role::User, text);
        self.push(Message::Whole(Cow::Owned(message)));
    }

    /// Sets the instructions, before any message.
    pub(super) fn set_instructions(&mut self, text: &str) {
        let raw = json::encode(text);
        if self.format.wire().instructions(&raw).is_some() {
            self.instructions = Some(Cow::Owned(raw));
        } else {
            let message = self.format.text_message(Role::System, text);
            self.push(Message::Whole(Cow::Owned(message)));
            self.instruction_messages += 1;
        }
    }

    /// Adds the definition of a tool.
    pub(super) fn add_tool(&mut self, name: &str, description: &str, parameters: &Value) {
        let tool = self.format.tool_definition(name, description, parameters);
        self.tools.push(tool.to_string());
    }

    /// Adds a summary that the program recorded.
    pub(super) fn push_summary(&mut self, text: &str) {
        self.note_summary(self.messages.len());
        self.push_text(&said_in(text));
    }

    /// Notes that the message with this index is a recorded summary. In order.
    pub(super) fn note_summary(&mut self, index: usize) {
        self.summaries.push(index);
    }

    /// Notes that the next message holds a result that came after the model's newest answer.
    pub(super) fn note_late(&mut self) {
        self.late.push(self.messages.len());
    }

    /// How many messages there are.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Adds contents of Gemini's.
    pub(super) fn push_contents(&mut self, contents: Vec<gemini::write::Content<'a>>) {
        for content in contents {
            if content.is_summary {
                self.note_summary(self.messages.len());
            }
            let parts = content.parts.into_iter().map(|part| part.raw).collect();
            self.push(Message::Parts(content.role, parts));
            self.report(content.tokens);
        }
    }

    /// Notes what the provider counted for all messages so far; a count of 0 is no report.
    pub(super) fn report(&mut self, tokens: u64) {
        if tokens > 0 {
            let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
            self.reported = Some((tokens, self.messages.len()));
        }
    }

    /// Rewrites the blocks and parts of messages that are made of them, each to what `change` makes of it, if
    /// anything.
    pub(super) fn rewrite_parts(&mut self, change: impl Fn(&str) -> Option<String>) {
        for message in &mut self.messages {
            if let Message::Parts(_, parts) = message {
                for part in parts {
                    if let Some(changed) = change(part) {
                        *part = Cow::Owned(changed);
                    }
                }
            }
        }
    }

    /// Writes the document.
    ///
    /// # Errors
    /// There are no messages, or most lines are not understood.
    pub(super) fn finish(mut self, mut facts: LogFacts) -> Result<Log, LogError> {
        if facts.unknown_lines > facts.lines / 2 {
            return Err(LogError::NotUnderstood {
                kind: self.kind,
                unknown: facts.unknown_lines,
                lines: facts.lines,
            });
        }
        let model = self.model.as_deref().unwrap_or_default();
        if self.format.wire().binds_thinking(model) {
            facts.dropped_thinking += self.leave_out_thinking();
        }
        facts.recorded_summaries = self.summaries.len();
        self.trim_the_end();
        if self.messages.len() == self.instruction_messages {
            return Err(LogError::NoMessages {
                kind: self.kind,
                lines: facts.lines,
            });
        }
        let wire = self.format.wire();
        let format = wire.facts();
        let (list, content) = (format.list.key(), format.content_key);
        let mut head = String::from("{");
        if let Some(model) = &self.model
            && format.names_model
        {
            head.push_str(&format!(r#""model":{},"#, json::encode(model)));
        }
        let instructions = self.instructions.as_deref();
        if let Some(member) = instructions.and_then(|text| wire.instructions(text)) {
            head.push_str(&member);
            head.push(',');
        }
        if !self.tools.is_empty() {
            head.push_str(&format!(r#""tools":[{}],"#, self.tools.join(",")));
        }
        head.push_str(&format!(r#""{list}":["#));

        // All at once: growing would copy a long document, and hold it twice meanwhile.
        let length: usize = self.messages.iter().map(Message::length).sum();
        let mut document = String::with_capacity(head.len() + length + 2);
        document.push_str(&head);
        for (index, message) in self.messages.iter().enumerate() {
            if index > 0 {
                document.push(',');
            }
            message.write(&mut document, content);
        }
        document.push_str("]}");
        Ok(Log {
            kind: self.kind,
            format: self.format,
            document,
            model: self.model.map(Cow::into_owned),
            reported: self.reported,
            summaries: self.summaries,
            late: self.late,
            facts,
        })
    }
}

impl Body<'_> {
    /// Leaves out all thinking, and says how many blocks that were. The model takes it only after the
    /// system prompt, tools and messages that it was made after, and of these a log holds some of the
    /// messages alone. What the model said beside it stays: no reader adds thinking alone.
    fn leave_out_thinking(&mut self) -> usize {
        let wire = self.format.wire();
        let mut dropped = 0;
        for message in &mut self.messages {
            if let Message::Parts("assistant", blocks) = message {
                let all = blocks.len();
                blocks.retain(|block| !wire.is_thinking(block));
                dropped += all - blocks.len();
            }
        }
        dropped
    }

    /// Removes white space from the end of the last answer if the provider refuses it there (ANTH-6).
    fn trim_the_end(&mut self) {
        let last = match self.messages.last_mut() {
            Some(Message::Parts("assistant", parts)) => parts.last_mut(),
            _ => None,
        };
        let Some(block) = last else { return };
        if let Some(place) = self.format.wire().refused_space(block) {
            block.to_mut().replace_range(place, "");
        }
    }
}

impl Message<'_> {
    /// Bytes that it takes, at most, with a comma.
    fn length(&self) -> usize {
        match self {
            Self::Whole(raw) => raw.len() + 1,
            Self::Said(role, content) => role.len() + content.len() + 24,
            Self::Parts(role, parts) => {
                role.len() + 26 + parts.iter().map(|part| part.len() + 1).sum::<usize>()
            }
        }
    }

    fn write(&self, document: &mut String, key: &str) {
        let mut open = |role: &str| {
            for piece in [r#"{"role":""#, role, r#"",""#, key, r#"":"#] {
                document.push_str(piece);
            }
        };
        match self {
            Self::Whole(raw) => document.push_str(raw),
            Self::Said(role, content) => {
                open(role);
                document.push_str(content);
                document.push('}');
            }
            Self::Parts(role, parts) => {
                open(role);
                document.push('[');
                for (index, part) in parts.iter().enumerate() {
                    if index > 0 {
                        document.push(',');
                    }
                    document.push_str(part);
                }
                document.push_str("]}");
            }
        }
    }
}

/// What a message of a recorded summary says, in tags by which it is known wherever the document goes.
/// Providers refuse one that says nothing.
pub(super) fn said_in(summary: &str) -> String {
    marks::wrap_recorded(if summary.trim().is_empty() {
        LEFT_OUT
    } else {
        summary
    })
}
