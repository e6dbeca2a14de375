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
}

impl<'a> Translate<'a> for Gemini<'a> {
    fn user(&mut self, blocks: &[Block<'a>], _body: &mut Body<'a>) {
        self.add(blocks.iter().map(part).collect());
    }

    fn summary(&mut self, text: &str, _body: &mut Body<'a>) {
        self.contents.push(Content {
            is_summary: true,
            ..Content::user(vec![gemini::plain(&said_in(text))])
        });
    }

    fn reply(&mut self, blocks: &[Block<'a>], tokens: u64, _body: &mut Body<'a>) -> bool {
        if !blocks.iter().any(Block::says) {
            return false;
        }
        let parts = blocks.iter().map(part).collect();
        gemini::add_answer(&mut self.contents, parts, tokens);
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
            let images = answer.blocks.iter().filter(|block| block.is_image());
            pictures.extend(images.map(part));
        }
        parts.append(&mut pictures);
        self.add(parts);
    }

    fn finish(mut self, body: &mut Body<'a>) {
        gemini::sign_current_turn(&mut self.contents, body.model.as_deref());
        body.push_contents(self.contents);
    }
}

impl<'a> Gemini<'a> {
    fn add(&mut self, parts: Vec<Part<'a>>) {
        if !parts.is_empty() {
            self.contents.push(Content::user(parts));
        }
    }
}

fn part<'a>(block: &Block<'_>) -> Part<'a> {
    let (mut raw, signature) = match block {
        Block::Text { text, signature } => (gemini::text(text).raw.into_owned(), *signature),
        Block::Thinking {
            text, signature, ..
        } => (gemini::thought(text), Some(*signature)),
        Block::Image { data, mime } => (gemini::picture(mime, data), None),
        Block::Call {
            id,
            name,
            arguments,
            signature,
            ..
        } => return gemini::call(Some(&json::encode(id)), name, arguments, *signature),
    };
    if let Some(signature) = signature {
        gemini::sign(&mut raw, signature);
    }
    Part::other(Cow::Owned(raw))
}
