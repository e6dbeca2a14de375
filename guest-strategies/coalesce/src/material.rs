//! Reads the unprotected units once.

use std::borrow::Cow;

use baler_digest::masked;
use baler_provenance::{ByAuthor, by_author};
use baler_strategy::{Content, Conversation, Message, Part, PartTraits, Role, UnitKind};

use crate::limits::{Limits, cut};
use crate::text::SUMMARY;
use crate::turn::Turn;

/// The content of the unprotected units, each with the index of its unit.
#[derive(Debug, Default)]
pub(crate) struct Material {
    pub turns: Vec<(usize, Turn)>,
    /// What the user said, without text that programs wrote.
    pub said: Vec<(usize, String)>,
    /// Earlier summaries, including those joined to a user message.
    pub summaries: Vec<(usize, String)>,
    /// All other units, including messages with the user's role that programs wrote.
    pub others: Vec<usize>,
}

impl Material {
    /// Reads the unprotected units, each text up to the limits.
    pub(crate) fn read(conversation: &Conversation<'_>, limits: &Limits) -> Self {
        let mut material = Self::default();
        let mut first = 0;
        for run in conversation
            .units()
            .chunk_by(|one, next| one.is_protected() == next.is_protected())
        {
            let range = first..first + run.len();
            first = range.end;
            if run[0].is_protected() {
                continue;
            }
            for (index, mut messages) in conversation.read(range) {
                messages.iter_mut().for_each(mask_secrets);
                material.add(index, conversation.units()[index].kind, &messages, limits);
            }
        }
        material
    }

    fn add(&mut self, index: usize, kind: UnitKind, messages: &[Message], limits: &Limits) {
        match kind {
            UnitKind::Step => {
                let turn = Turn::of_step(messages, limits.excerpt);
                self.turns.push((index, turn));
                // What the user says next to outputs is not part of the turn.
                let parts: Vec<&Part> = messages
                    .iter()
                    .filter(|message| message.role == Role::User)
                    .flat_map(|message| &message.parts)
                    .collect();
                let (earlier, said): (Vec<&Part>, Vec<&Part>) =
                    parts.into_iter().partition(|part| {
                        is_earlier_text(part) && matches!(part.content, Content::Text(_))
                    });
                self.add_earlier(index, earlier, limits);
                let texts = users_texts(&said);
                let authored = by_author(&texts);
                let own = authored.iter().filter_map(ByAuthor::own_words).collect();
                self.add_said(index, own, limits);
            }
            UnitKind::User | UnitKind::Summary => {
                let (earlier, said): (Vec<&Part>, Vec<&Part>) = messages
                    .iter()
                    .flat_map(|message| &message.parts)
                    .partition(|part| kind == UnitKind::Summary || is_earlier_text(part));
                self.add_earlier(index, earlier, limits);
                let (own, is_by_program) = own_words(&said);
                if !self.add_said(index, own, limits) && is_by_program {
                    self.others.push(index);
                }
            }
            UnitKind::Instructions | UnitKind::Other => self.others.push(index),
        }
    }

    /// Adds text that earlier compactions wrote.
    fn add_earlier(&mut self, index: usize, parts: Vec<&Part>, limits: &Limits) {
        let texts: Vec<String> = parts.into_iter().map(shown).collect();
        let text = joined(texts, longest(limits).saturating_mul(SUMMARY));
        self.summaries.extend(text.map(|text| (index, text)));
    }

    /// Adds what the user said. Returns whether there was any text.
    fn add_said(&mut self, index: usize, texts: Vec<String>, limits: &Limits) -> bool {
        let text = joined(texts, longest(limits));
        let says = text.is_some();
        self.said.extend(text.map(|text| (index, text)));
        says
    }
}

/// Replaces secrets in a message, of which the text must not show any. Arguments stay JSON.
fn mask_secrets(message: &mut Message) {
    for part in &mut message.parts {
        let text = match &mut part.content {
            Content::Text(text) | Content::Thinking(text) => text,
            Content::Call(call) => &mut call.arguments,
            Content::Output(output) => &mut output.text,
            Content::Media(_) | Content::Opaque(_) => continue,
        };
        if let Cow::Owned(masked) = masked(text) {
            *text = masked;
        }
    }
}

/// Returns the most characters of a line that are read: one more than is shown, so that rendering marks the
/// cut.
fn longest(limits: &Limits) -> usize {
    limits.line.saturating_add(1)
}

/// Returns whether an earlier compaction wrote the part.
pub(crate) fn is_earlier_text(part: &Part) -> bool {
    part.traits.contains(PartTraits::REWRITTEN)
}

/// Returns what the user says in each part, and whether a program wrote any of the text, such as outputs of
/// commands or reminders.
fn own_words(parts: &[&Part]) -> (Vec<String>, bool) {
    let texts = users_texts(parts);
    let authored = by_author(&texts);
    let is_by_program = authored
        .iter()
        .any(|authored| authored.by_programs().is_some());
    let own = parts
        .iter()
        .zip(&authored)
        .map(|(part, authored)| match &part.content {
            Content::Text(_) => authored.own_words().unwrap_or_default(),
            _ => shown(part),
        })
        .collect();
    (own, is_by_program)
}

/// Returns the text of each part, empty for other content.
fn users_texts<'a>(parts: &[&'a Part]) -> Vec<&'a str> {
    parts
        .iter()
        .map(|part| match &part.content {
            Content::Text(text) => text.as_str(),
            _ => "",
        })
        .collect()
}

/// Returns the text of a part, or a placeholder for other content.
fn shown(part: &Part) -> String {
    match &part.content {
        Content::Text(text) => text.clone(),
        Content::Media(media) => format!("[{}]", media.kind),
        Content::Opaque(kind) => format!("[{kind}]"),
        Content::Output(output) => output.text.clone(),
        Content::Thinking(_) | Content::Call(_) => String::new(),
    }
}

/// Joins all texts that are not blank. `None` if there are none.
fn joined(mut texts: Vec<String>, longest: usize) -> Option<String> {
    texts.retain(|text| !text.trim().is_empty());
    (!texts.is_empty()).then(|| cut(texts.join("\n").trim(), longest))
}
