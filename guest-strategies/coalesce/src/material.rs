//! What may go, read once.

use baler_strategy::{Content, Conversation, Message, Part, PartTraits, UnitKind};

use crate::limits::{Limits, cut};
use crate::text::SUMMARY;
use crate::turn::Turn;

/// What the unprotected units say, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Material {
    pub turns: Vec<(usize, Turn)>,
    pub said: Vec<(usize, String)>,
    /// earlier summaries, also those that joined a message of the user's
    pub summaries: Vec<(usize, String)>,
    pub others: Vec<usize>,
}

impl Material {
    /// Reads the unprotected units, of each text as much as a text could show.
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
            for (index, messages) in conversation.read(range) {
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
            }
            UnitKind::User | UnitKind::Summary => {
                let (earlier, said): (Vec<&Part>, Vec<&Part>) = messages
                    .iter()
                    .flat_map(|message| &message.parts)
                    .partition(|part| kind == UnitKind::Summary || is_earlier_text(part));
                // One character more, so that what is cut still says so when it is shown.
                let longest = limits.line.saturating_add(1);
                let earlier = joined(&earlier, longest.saturating_mul(SUMMARY));
                self.summaries.extend(earlier.map(|text| (index, text)));
                let said = joined(&said, longest);
                self.said.extend(said.map(|text| (index, text)));
            }
            UnitKind::Instructions | UnitKind::Other => self.others.push(index),
        }
    }
}

/// Whether an earlier compaction wrote it.
pub(crate) fn is_earlier_text(part: &Part) -> bool {
    part.traits.contains(PartTraits::REWRITTEN)
}

/// The texts of the parts, and words for what is no text.
fn joined(parts: &[&Part], longest: usize) -> Option<String> {
    let texts: Vec<String> = parts
        .iter()
        .map(|part| match &part.content {
            Content::Text(text) => text.clone(),
            Content::Media(media) => format!("[{}]", media.kind),
            Content::Opaque(kind) => format!("[{kind}]"),
            Content::Output(output) => output.text.clone(),
            Content::Thinking(_) | Content::Call(_) => String::new(),
        })
        .filter(|text| !text.trim().is_empty())
        .collect();
    (!texts.is_empty()).then(|| cut(texts.join("\n").trim(), longest))
}
