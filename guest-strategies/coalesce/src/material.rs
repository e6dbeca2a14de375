//! What may go, read once.

use baler_strategy::{Content, Conversation, Message, Part, PartTraits, UnitKind};

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
    /// Reads the unprotected units. Of results it takes so many characters.
    pub(crate) fn read(conversation: &Conversation<'_>, excerpt: usize) -> Self {
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
                material.add(index, conversation.units()[index].kind, &messages, excerpt);
            }
        }
        material
    }

    fn add(&mut self, index: usize, kind: UnitKind, messages: &[Message], excerpt: usize) {
        match kind {
            UnitKind::Step => {
                let turn = Turn::of_step(messages, excerpt);
                self.turns.push((index, turn));
            }
            UnitKind::User | UnitKind::Summary => {
                let (earlier, said): (Vec<&Part>, Vec<&Part>) = messages
                    .iter()
                    .flat_map(|message| &message.parts)
                    .partition(|part| kind == UnitKind::Summary || is_earlier_text(part));
                self.summaries
                    .extend(joined(&earlier).map(|text| (index, text)));
                self.said.extend(joined(&said).map(|text| (index, text)));
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
fn joined(parts: &[&Part]) -> Option<String> {
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
    (!texts.is_empty()).then(|| texts.join("\n"))
}
