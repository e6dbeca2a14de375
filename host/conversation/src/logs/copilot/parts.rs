//! What events hold for the model: texts, pictures, calls and what tools returned.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::json::{self, Members};
use crate::logs::turns::blocks::{Answer, Block, mark};
use crate::model::log::LogFacts;

/// What events tell for other events.
#[derive(Default)]
pub(super) struct Known<'a> {
    /// What a tool was called with, by the id of the call: some versions write it only where the tool starts.
    pub(super) arguments: HashMap<Cow<'a, str>, &'a str>,
    /// Pictures by the id of their data.
    pub(super) assets: HashMap<Cow<'a, str>, Members<'a>>,
}

impl<'a> Known<'a> {
    /// Notes what an event tells for others.
    pub(super) fn note(&mut self, event: &Members<'a>) {
        let kind = event.text("type");
        let Some(data) = event.object("data") else {
            return;
        };
        match kind.as_deref() {
            Some("tool.execution_start") => {
                let arguments = data.raw("arguments");
                if let (Some(call), Some(arguments)) = (data.text("toolCallId"), arguments) {
                    self.arguments.insert(call, arguments);
                }
            }
            Some("session.binary_asset") => {
                if let Some(id) = data.text("assetId") {
                    self.assets.insert(id, data);
                }
            }
            _ => {}
        }
    }

    /// A call that the model made; `None` if it has no name.
    pub(super) fn call(&self, request: &Members<'a>) -> Option<Block<'a>> {
        let logged = request.text("toolCallId").unwrap_or_default();
        let own = request.raw("arguments");
        let arguments = own.or_else(|| self.arguments.get(&logged).copied());
        Some(Block::Call {
            name: request.raw_text("name")?,
            arguments: arguments.map_or(Cow::Borrowed("{}"), object),
            logged,
            id: String::new(),
            signature: None,
        })
    }

    /// What a tool returned.
    pub(super) fn answer(&self, data: &Members<'a>, facts: &mut LogFacts) -> Answer<'a> {
        let result = data.object("result");
        let error = data.object("error");
        let failed = data.get("success").map(RawValue::get) == Some("false");
        let returned = result
            .as_ref()
            .and_then(|result| result.raw_text("content"));
        let message = error.as_ref().and_then(|error| error.raw_text("message"));
        let said = if failed {
            message.or(returned)
        } else {
            returned.or(message)
        };
        let mut blocks = Vec::from_iter(said.and_then(block));
        let shown = result.and_then(|result| result.list("binaryResultsForLlm"));
        self.pictures(shown, &mut blocks, facts);
        Answer {
            name: Cow::Borrowed(r#""""#),
            blocks,
            failed,
        }
    }

    /// Adds the pictures of a list, and counts what cannot be shown.
    pub(super) fn pictures(
        &self,
        list: Option<Vec<&'a RawValue>>,
        blocks: &mut Vec<Block<'a>>,
        facts: &mut LogFacts,
    ) {
        for raw in list.unwrap_or_default() {
            let members = json::members(raw.get());
            match members.and_then(|members| self.picture(&members)) {
                Some(picture) => blocks.push(picture),
                None => facts.dropped_attachments += 1,
            }
        }
    }

    /// A picture, whose data stands beside its type or in an event of its own.
    fn picture(&self, members: &Members<'a>) -> Option<Block<'a>> {
        let elsewhere = members.text("assetId").and_then(|id| self.assets.get(&id));
        let holder = elsewhere.unwrap_or(members);
        let (data, mime) = (holder.raw_text("data")?, holder.raw_text("mimeType")?);
        let is_picture = json::decode(mime).starts_with("image/") && !json::is_blank(data);
        is_picture.then_some(Block::Image {
            data: Cow::Borrowed(data),
            mime: Cow::Borrowed(mime),
        })
    }
}

/// A raw text as a block, if it says anything.
pub(super) fn block(raw: &str) -> Option<Block<'_>> {
    Block::text(raw, None)
}

/// The user's words, and around them what the program added for the model. `sent` is what the model is sent.
pub(super) fn words<'a>(said: Option<&'a str>, sent: Option<&'a str>) -> Vec<Block<'a>> {
    let (Some(said), Some(sent)) = (said, sent) else {
        return said.or(sent).and_then(block).into_iter().collect();
    };
    let (own, all) = (json::decode(said), json::decode(sent));
    let around = (!own.trim().is_empty())
        .then(|| all.split_once(&*own))
        .flatten();
    // The program wrote the user's words anew.
    let Some((before, behind)) = around else {
        return block(sent).into_iter().collect();
    };
    let added = |text: &str| {
        let text = (!text.trim().is_empty()).then(|| json::encode(text))?;
        let mut added = [Block::unsigned(text)];
        mark(&mut added);
        added.into_iter().next()
    };
    [added(before), block(said), added(behind)]
        .into_iter()
        .flatten()
        .collect()
}

/// Arguments as an object. Tools with a grammar of their own are called with a text.
fn object(raw: &str) -> Cow<'_, str> {
    if json::is_object(raw) {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(format!(r#"{{"input":{raw}}}"#))
}
