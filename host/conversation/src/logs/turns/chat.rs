//! Messages in the words of OpenAI Chat Completions.

use std::borrow::Cow;

use super::Translate;
use super::blocks::{self, Answer, Block};
use crate::formats::openai_chat::write;
use crate::json;
use crate::logs::body::{Body, Message};

#[derive(Default)]
pub(super) struct Chat;

impl<'a> Translate<'a> for Chat {
    fn user(&mut self, blocks: &[Block<'a>], body: &mut Body<'a>) {
        body.push(Message::Parts("user", parts(blocks)));
    }

    /// The whole batch is in one message. Reasoning has no standard form here.
    fn reply(&mut self, blocks: &[Block<'a>], tokens: u64, body: &mut Body<'a>) -> bool {
        let texts = blocks::texts(blocks);
        let content = match &texts[..] {
            [] => "null".to_owned(),
            [text] => (*text).to_owned(),
            _ => format!("[{}]", parts(blocks).join(",")),
        };
        let calls: Vec<String> = blocks.iter().filter_map(call).collect();
        if calls.is_empty() && texts.is_empty() {
            return false;
        }
        let answer = write::answer(&content, &calls);
        body.push(Message::Whole(Cow::Owned(answer)));
        body.report(tokens);
        true
    }

    /// Not before pictures, which the user shows after all answers (CHAT-2).
    fn may_wait(batch: &[(Cow<'a, str>, Option<Answer<'a>>)]) -> bool {
        let mut answers = batch.iter().filter_map(|(_, answer)| answer.as_ref());
        !answers.any(|answer| answer.blocks.iter().any(Block::is_image))
    }

    /// One message each. Pictures come after all of them, as only the user may show some.
    fn answers(&mut self, answers: &[(String, Answer<'a>)], body: &mut Body<'a>) {
        let mut pictures: Vec<Cow<'a, str>> = Vec::new();
        for (id, answer) in answers {
            let id = json::encode(id);
            let content = blocks::joined(&blocks::texts(&answer.blocks)).into_owned();
            let images = answer.blocks.iter().filter_map(picture);
            let before = pictures.len();
            pictures.extend(images);
            let content = match &*content {
                r#""""# if pictures.len() > before => r#""(see the picture below)""#.to_owned(),
                _ => content,
            };
            let output = write::output(&id, &content);
            body.push(Message::Whole(Cow::Owned(output)));
        }
        if !pictures.is_empty() {
            let text = write::text(r#""(pictures of the tool results above)""#);
            pictures.insert(0, Cow::Owned(text));
            body.push(Message::Parts("user", pictures));
        }
    }
}

fn parts<'a>(blocks: &[Block<'_>]) -> Vec<Cow<'a, str>> {
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text, .. } => Some(Cow::Owned(write::text(text))),
            block => picture(block),
        })
        .collect()
}

fn picture<'a>(block: &Block<'_>) -> Option<Cow<'a, str>> {
    let Block::Image { data, mime } = block else {
        return None;
    };
    let url = blocks::data_url(data, mime);
    Some(Cow::Owned(write::picture(&url)))
}

/// A call. Its arguments are a text here (CHAT-4).
fn call(block: &Block<'_>) -> Option<String> {
    let Block::Call {
        id,
        name,
        arguments,
        ..
    } = block
    else {
        return None;
    };
    let (id, arguments) = (json::encode(id), json::encode(arguments));
    Some(write::call(&id, name, &arguments))
}
