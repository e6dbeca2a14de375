//! pi's messages in the words of OpenAI Chat Completions.

use std::borrow::Cow;

use super::Translate;
use super::blocks::{self, Answer, Block};
use crate::formats::json;
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
        let calls = match &calls[..] {
            [] if texts.is_empty() => return false,
            [] => String::new(),
            calls => format!(r#","tool_calls":[{}]"#, calls.join(",")),
        };
        body.push(Message::Whole(Cow::Owned(format!(
            r#"{{"role":"assistant","content":{content}{calls}}}"#
        ))));
        body.report(tokens);
        true
    }

    /// Not in front of pictures, which the user shows behind all answers (CHAT-2).
    fn may_wait(batch: &[(Cow<'a, str>, Option<Answer<'a>>)]) -> bool {
        let is_shown = |block: &Block<'_>| matches!(block, Block::Image { .. });
        let mut answers = batch.iter().filter_map(|(_, answer)| answer.as_ref());
        !answers.any(|answer| answer.blocks.iter().any(is_shown))
    }

    /// One message each. Pictures come behind all of them, as only the user may show some.
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
            body.push(Message::Whole(Cow::Owned(format!(
                r#"{{"role":"tool","tool_call_id":{id},"content":{content}}}"#
            ))));
        }
        if !pictures.is_empty() {
            let text = r#"{"type":"text","text":"(pictures of the tool results above)"}"#;
            pictures.insert(0, Cow::Borrowed(text));
            body.push(Message::Parts("user", pictures));
        }
    }
}

fn parts<'a>(blocks: &[Block<'_>]) -> Vec<Cow<'a, str>> {
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text, .. } => {
                Some(Cow::Owned(format!(r#"{{"type":"text","text":{text}}}"#)))
            }
            block => picture(block),
        })
        .collect()
}

fn picture<'a>(block: &Block<'_>) -> Option<Cow<'a, str>> {
    let Block::Image { data, mime } = block else {
        return None;
    };
    let url = blocks::data_url(data, mime);
    Some(Cow::Owned(format!(
        r#"{{"type":"image_url","image_url":{{"url":{url}}}}}"#
    )))
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
    Some(format!(
        r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{arguments}}}}}"#
    ))
}
