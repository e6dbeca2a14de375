//! What the model reads of the units that go.

use std::borrow::Cow;

use baler_digest::quoted;

use crate::conversation::message::{Content, Message};
use crate::conversation::{Conversation, Role, UnitKind};
use crate::tokens::Tokenizer;

/// The most bytes of a tool's output, of a call's arguments, and of any other text.
const OUTPUT: usize = 2_000;
const ARGUMENTS: usize = 400;
const TEXT: usize = 20_000;

/// The most bytes of an earlier summary: more than one has.
const SUMMARY: usize = 100_000;

/// What stands for the beginning that did not fit.
const CUT: &str = "(The beginning of this conversation did not fit and is left out.)";

/// Units in words, oldest first, and what earlier summaries say.
pub(super) struct Transcript {
    summaries: Vec<String>,
    units: Vec<String>,
    is_cut: bool,
}

impl Transcript {
    /// Of the units that are not kept.
    pub(super) fn of(conversation: &Conversation, kept: &[bool]) -> Self {
        let mut transcript = Self {
            summaries: Vec::new(),
            units: Vec::new(),
            is_cut: false,
        };
        for (index, unit) in conversation.units().iter().enumerate() {
            if kept.get(index).is_none_or(|kept| *kept) {
                continue;
            }
            let messages = conversation.messages(index);
            let paragraphs: Vec<String> = messages
                .iter()
                .flat_map(|message| paragraphs(conversation, message))
                .collect();
            if unit.kind == UnitKind::Summary {
                let said = messages.iter().flat_map(|message| {
                    let parts = message.parts.iter();
                    parts.filter_map(move |part| conversation.earlier_text(message, part))
                });
                transcript
                    .summaries
                    .extend(said.map(|text| bounded(&text, SUMMARY).into_owned()));
            } else if !paragraphs.is_empty() {
                // All of it, whatever part it comes from: a text that is only quoted must not
                // end the quotation.
                let text = paragraphs.join("\n\n");
                transcript.units.push(quoted(&text).into_owned());
            }
        }
        transcript
    }

    /// The question. The summary is to have at most so many tokens.
    pub(super) fn prompt(&self, tokens: u32) -> String {
        let mut prompt = String::new();
        if !self.summaries.is_empty() {
            // It goes on in the new one, and not a second time as a part of the conversation
            // (PL-N1, PU-N18).
            prompt.push_str("The summary so far, all of which still counts:\n<summary_so_far>\n");
            // A model wrote it, of texts that may have asked for a tag in it.
            prompt.push_str(&quoted(&self.summaries.join("\n\n")));
            prompt.push_str("\n</summary_so_far>\n\n");
        }
        prompt.push_str("<conversation>\n");
        if self.is_cut {
            prompt.push_str(CUT);
            prompt.push_str("\n\n");
        }
        prompt.push_str(&self.units.join("\n\n"));
        prompt.push_str("\n</conversation>\n\n");
        let words = tokens / 4 * 3;
        prompt.push_str(&format!(
            "Write the summary of all that, in no more than {words} words."
        ));
        prompt
    }

    /// Leaves out the oldest units: half, or as many as are too many for `fits` tokens. False
    /// where nothing can go any more.
    pub(super) fn shorten(&mut self, counter: &Tokenizer, fits: Option<u32>) -> bool {
        if self.units.len() < 2 {
            let Some(only) = self.units.first_mut().filter(|only| only.len() > OUTPUT) else {
                return false;
            };
            let start = only.ceil_char_boundary(only.len() / 2);
            *only = format!("…{}", &only[start..]);
            self.is_cut = true;
            return true;
        }
        let mut going = self.units.len() / 2;
        if let Some(fits) = fits {
            // What stands around the units needs room too.
            let around = self
                .summaries
                .iter()
                .fold(400u32, |sum, text| sum.saturating_add(counter.count(text)));
            let mut left = fits.saturating_sub(around);
            let fitting = self.units.iter().rev().take_while(|unit| {
                let tokens = counter.count(unit);
                let fits = tokens <= left;
                left = left.saturating_sub(tokens);
                fits
            });
            going = self.units.len() - fitting.count().clamp(1, self.units.len() - 1);
        }
        self.units.drain(..going);
        self.is_cut = true;
        true
    }
}

/// A message in words: `Label: text` (PL-S20), its calls (PL-N9), and its outputs.
fn paragraphs(conversation: &Conversation, message: &Message) -> Vec<String> {
    let label = match message.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool result",
        Role::System | Role::Developer => "Instructions",
    };
    let mut said = Vec::new();
    let mut results = Vec::new();
    for part in &message.parts {
        match &part.content {
            Content::Text(place) => {
                let text = match conversation.earlier_text(message, part) {
                    Some(text) => text,
                    None => conversation.text(place).into_owned(),
                };
                said.push(bounded(&text, TEXT).into_owned());
            }
            Content::Call(call) => {
                let arguments = call.arguments.as_ref();
                let arguments =
                    arguments.map_or(Cow::Borrowed(""), |place| conversation.text(place));
                said.push(format!(
                    "[calls {}({})]",
                    call.name,
                    bounded(&arguments, ARGUMENTS)
                ));
            }
            Content::Output(output) => {
                let text = match conversation.earlier_text(message, part) {
                    Some(text) => Cow::Owned(text),
                    None => output.text(conversation.source()),
                };
                let mut text = bounded(&text, OUTPUT).into_owned();
                for (_, media) in &output.others {
                    text.push_str(&format!(" [{}]", media.kind));
                }
                let failed = if output.failed { " (failed)" } else { "" };
                results.push(format!("Tool result{failed}: {text}"));
            }
            Content::Media(media) => said.push(match &media.name {
                Some(name) => format!("[{}: {name}]", media.kind),
                None => format!("[{}]", media.kind),
            }),
            Content::Thinking(_) | Content::Opaque(_) => {}
        }
    }
    if !said.is_empty() {
        results.push(format!("{label}: {}", said.join("\n")));
    }
    results
}

/// The beginning and the end of a text that is too long.
fn bounded(text: &str, bytes: usize) -> Cow<'_, str> {
    if text.len() <= bytes {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(bytes / 3 * 2);
    let tail = text.ceil_char_boundary(text.len() - bytes / 3);
    Cow::Owned(format!("{} […] {}", &text[..head], &text[tail..]))
}
