//! Messages in the words of Gemini.

use std::borrow::Cow;

use super::Translate;
use super::blocks::{self, Answer, Block};
use crate::formats::gemini::write::{self as gemini, Content, Part};
use crate::json;
use crate::logs::body::{Body, said_in};

/// Contents are held back: which calls need a signature shows at the end.
#[derive(Default)]
pub(super) struct Gemini<'a> {
    contents: Vec<Content<'a>>,
    /// Which of them are recorded summaries.
    summaries: Vec<usize>,
}

impl<'a> Translate<'a> for Gemini<'a> {
    fn user(&mut self, blocks: &[Block<'a>], _body: &mut Body<'a>) {
        self.add("user", blocks.iter().filter_map(part).collect());
    }

    fn summary(&mut self, text: &str, _body: &mut Body<'a>) {
        self.summaries.push(self.contents.len());
        self.add("user", vec![gemini::plain(&said_in(text))]);
    }

    fn reply(&mut self, blocks: &[Block<'a>], tokens: u64, _body: &mut Body<'a>) -> bool {
        let says = |block: &Block<'_>| !matches!(block, Block::Thinking { .. });
        if !blocks.iter().any(says) {
            return false;
        }
        let mut parts = blocks.iter().filter_map(part).collect();
        match self.contents.last_mut() {
            // A turn with calls follows a turn of the user (GEM-2), so what was said joins it.
            Some(before) if before.role == "model" => {
                before.parts.append(&mut parts);
                before.tokens = tokens;
            }
            _ => self.contents.push(Content {
                role: "model",
                parts,
                tokens,
            }),
        }
        true
    }

    /// All in one content, the responses first (GEM-2).
    fn answers(&mut self, answers: &[(String, Answer<'a>)], _body: &mut Body<'a>) {
        let mut parts = Vec::new();
        let mut pictures = Vec::new();
        for (id, answer) in answers {
            let key = if answer.failed { "error" } else { "output" };
            let text = blocks::joined(&blocks::texts(&answer.blocks));
            let id = json::encode(id);
            parts.push(gemini::response(Some(&id), &answer.name, key, &text));
            let images = answer
                .blocks
                .iter()
                .filter(|b| matches!(b, Block::Image { .. }));
            pictures.extend(images.filter_map(part));
        }
        parts.append(&mut pictures);
        self.add("user", parts);
    }

    fn finish(mut self, body: &mut Body<'a>) {
        gemini::sign_current_turn(&mut self.contents, body.model.as_deref());
        // Contents become messages one by one.
        for index in self.summaries {
            body.note_summary(body.len() + index);
        }
        body.push_contents(self.contents);
    }
}

impl<'a> Gemini<'a> {
    fn add(&mut self, role: &'static str, parts: Vec<Part<'a>>) {
        if !parts.is_empty() {
            self.contents.push(Content {
                role,
                parts,
                tokens: 0,
            });
        }
    }
}

fn part<'a>(block: &Block<'_>) -> Option<Part<'a>> {
    let mut raw = match block {
        Block::Text { text, .. } => gemini::text(text).raw.into_owned(),
        Block::Thinking { text, .. } => gemini::thought(text),
        Block::Image { data, mime } => gemini::picture(mime, data),
        Block::Call {
            id,
            name,
            arguments,
            signature,
            ..
        } => {
            return Some(gemini::call(
                Some(&json::encode(id)),
                name,
                arguments,
                *signature,
            ));
        }
    };
    let signature = match block {
        Block::Text { signature, .. } => *signature,
        Block::Thinking { signature, .. } => Some(*signature),
        _ => None,
    };
    if let Some(signature) = signature {
        gemini::sign(&mut raw, signature);
    }
    Some(Part::other(Cow::Owned(raw)))
}
