//! Messages in the words of Anthropic Messages.

use std::borrow::Cow;

use super::Translate;
use super::blocks::{Answer, Block};
use crate::formats::anthropic::write;
use crate::json;
use crate::logs::body::{Body, Message};

#[derive(Default)]
pub(super) struct Anthropic;

impl<'a> Translate<'a> for Anthropic {
    fn user(&mut self, blocks: &[Block<'a>], body: &mut Body<'a>) {
        let blocks = blocks.iter().map(block).collect();
        body.push(Message::Parts("user", blocks));
    }

    fn reply(&mut self, blocks: &[Block<'a>], tokens: u64, body: &mut Body<'a>) -> bool {
        if !blocks.iter().any(Block::says) {
            return false;
        }
        let blocks = blocks.iter().map(block).collect();
        body.push(Message::Parts("assistant", blocks));
        body.report(tokens);
        true
    }

    /// All in one message (ANTH-3).
    fn answers(&mut self, answers: &[(String, Answer<'a>)], body: &mut Body<'a>) {
        let results = answers
            .iter()
            .map(|(id, answer)| {
                let id = json::encode(id);
                let blocks: Vec<_> = answer.blocks.iter().map(block).collect();
                let content = match &blocks[..] {
                    // The API refuses an error without a text (ANTH-11).
                    [] if answer.failed => r#""(no output)""#.to_owned(),
                    [] => r#""""#.to_owned(),
                    blocks => format!("[{}]", blocks.join(",")),
                };
                // And one with more than texts; the picture tells more than the mark.
                let failed = answer.failed && !answer.blocks.iter().any(Block::is_image);
                Cow::Owned(write::result(&id, &content, failed))
            })
            .collect();
        body.push(Message::Parts("user", results));
    }
}

fn block<'a>(block: &Block<'_>) -> Cow<'a, str> {
    Cow::Owned(match block {
        Block::Text { text, .. } => write::text(text),
        Block::Thinking {
            signature,
            redacted: true,
            ..
        } => write::redacted_thinking(signature),
        Block::Thinking {
            text, signature, ..
        } => write::thinking(text, signature),
        Block::Image { data, mime } => write::picture(mime, data),
        Block::Call {
            id,
            name,
            arguments,
            ..
        } => write::call(&json::encode(id), name, arguments),
    })
}
