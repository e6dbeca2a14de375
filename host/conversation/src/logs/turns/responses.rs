//! Messages in the words of OpenAI Responses.

use std::borrow::Cow;

use super::Translate;
use super::blocks::{self, Answer, Block};
use crate::formats::openai_responses::write;
use crate::json;
use crate::logs::body::{Body, Message};

#[derive(Default)]
pub(super) struct Responses;

impl<'a> Translate<'a> for Responses {
    fn user(&mut self, blocks: &[Block<'a>], body: &mut Body<'a>) {
        body.push(Message::Parts("user", parts(blocks)));
    }

    /// Reasoning stays where something follows that it led to (RESP-3). Calls and messages go
    /// without ids of their own, so that none of them asks for the reasoning (RESP-4).
    fn reply(&mut self, blocks: &[Block<'a>], tokens: u64, body: &mut Body<'a>) -> bool {
        let says = |block: &Block<'_>| matches!(block, Block::Text { .. } | Block::Call { .. });
        let Some(end) = blocks.iter().rposition(says) else {
            return false;
        };
        for block in blocks.iter().take(end + 1) {
            if let Some(item) = item(block) {
                body.push(Message::Whole(Cow::Owned(item)));
            }
        }
        body.report(tokens);
        true
    }

    fn may_wait(_batch: &[(Cow<'a, str>, Option<Answer<'a>>)]) -> bool {
        true
    }

    fn answers(&mut self, answers: &[(String, Answer<'a>)], body: &mut Body<'a>) {
        for (id, answer) in answers {
            let id = json::encode(id);
            let texts = blocks::texts(&answer.blocks);
            let output = if texts.len() == answer.blocks.len() {
                blocks::joined(&texts).into_owned()
            } else {
                format!("[{}]", parts(&answer.blocks).join(","))
            };
            let output = write::output(&id, &output);
            body.push(Message::Whole(Cow::Owned(output)));
        }
    }
}

fn item(block: &Block<'_>) -> Option<String> {
    match block {
        Block::Text { text, .. } => Some(write::answer(text)),
        // The whole item is the signature, as pi keeps it.
        Block::Thinking { signature, .. } => {
            let item = json::decode(signature);
            let members = json::members(&item)?;
            let is_reasoning = members.text("type").as_deref() == Some("reasoning");
            is_reasoning.then(|| item.trim().to_owned())
        }
        Block::Call {
            id,
            name,
            arguments,
            ..
        } => {
            let (id, arguments) = (json::encode(id), json::encode(arguments));
            Some(write::call(&id, name, &arguments))
        }
        Block::Image { .. } => None,
    }
}

fn parts<'a>(blocks: &[Block<'_>]) -> Vec<Cow<'a, str>> {
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text, .. } => Some(write::text(text)),
            Block::Image { data, mime } => Some(write::picture(&blocks::data_url(data, mime))),
            _ => None,
        })
        .map(Cow::Owned)
        .collect()
}
