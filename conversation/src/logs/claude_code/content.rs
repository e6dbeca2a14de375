//! What a line holds for the model: blocks of a response, texts, tool results, a summary.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::formats::anthropic::write;
use crate::json::{self, Members};
use crate::logs::body::is_blank;
use crate::logs::inserted;
use crate::logs::lines::{self, is_true};
use crate::model::log::LogFacts;

/// Whether the user says something here, beside no results.
pub(super) fn is_prompt(blocks: &[Block<'_>], source: Source) -> bool {
    let is_result = |block: &Block<'_>| matches!(block.kind, BlockKind::Result(_));
    source == Source::Prompt && !blocks.iter().any(is_result)
}

/// The session in which a line is a prompt that the user typed and that hangs on nothing (LCC-19).
pub(super) fn root_of<'a>(line: &Members<'a>, content: &Content<'a>) -> Option<Cow<'a, str>> {
    let Content::Said { blocks, source } = content else {
        return None;
    };
    let hangs_on_nothing = line
        .get("parentUuid")
        .is_some_and(|parent| parent.get() == "null");
    let is_root = hangs_on_nothing
        && is_prompt(blocks, *source)
        && !is_true(line, "isSidechain")
        && blocks.iter().any(is_typed);
    line.text("sessionId")
        .filter(|session| is_root && !session.is_empty())
}

/// How what programs write in the user's lines begins: commands and their output, and that the user broke in.
const PROGRAMS: [&str; 3] = [
    "<",
    "Caveat: The messages below",
    "[Request interrupted by user",
];

/// Whether a block holds what the user typed, and no program.
fn is_typed(block: &Block<'_>) -> bool {
    text_of(block).is_some_and(|text| {
        let text = text.trim_start();
        !PROGRAMS.iter().any(|program| text.starts_with(program))
    })
}

/// What a line holds for the model.
pub(super) enum Content<'a> {
    /// Nothing, but the chain of parents may go through it.
    None,
    /// A part of a response.
    Reply(Reply<'a>),
    /// Text of the user or of the program, or tool results.
    Said {
        blocks: Vec<Block<'a>>,
        source: Source,
    },
    /// A recorded summary.
    Summary(String),
}

/// Where a text in the user's role comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The user's prompt, where going back to an earlier message shows.
    Prompt,
    /// The program by itself, in a line of the user's (LCC-10).
    Program,
    /// A line of another type (LCC-15, LCC-16).
    Record,
}

/// A part of a response.
pub(super) struct Reply<'a> {
    /// What all parts of one response have in common (LCC-2); `None` if it is empty.
    pub(super) id: Option<Cow<'a, str>>,
    /// The request that it answers, which gateways may not tell; `None` if it is empty.
    pub(super) request: Option<Cow<'a, str>>,
    pub(super) model: Option<Cow<'a, str>>,
    /// Tokens of the request and of the response so far (LCC-14); 0 where none are told.
    pub(super) tokens: u64,
    pub(super) blocks: Vec<Block<'a>>,
}

/// A block, as raw JSON.
pub(super) struct Block<'a> {
    pub(super) raw: &'a str,
    pub(super) kind: BlockKind<'a>,
}

pub(super) enum BlockKind<'a> {
    /// A content that is a text: the raw JSON is the text alone.
    Bare,
    Thinking,
    Call(Cow<'a, str>),
    Result(Cow<'a, str>),
    /// A text that nothing but its record tells to be the program's: a text alone, or a block with one.
    Inserted,
    Other,
}

impl<'a> Block<'a> {
    /// It as it stands in a list of blocks.
    pub(super) fn listed(&self) -> Cow<'a, str> {
        match self.kind {
            BlockKind::Bare => Cow::Owned(write::text(self.raw)),
            BlockKind::Inserted => {
                inserted::marked_block(self.raw).map_or(Cow::Borrowed(self.raw), Cow::Owned)
            }
            _ => Cow::Borrowed(self.raw),
        }
    }
}

pub(super) fn reply<'a>(line: &Members<'a>, facts: &mut LogFacts) -> Content<'a> {
    let Some(message) = lines::object(line, "message") else {
        return Content::None;
    };
    let Some(blocks) = message
        .present("content")
        .and_then(|content| blocks(content, facts))
    else {
        return Content::None;
    };
    let tokens = lines::object(&message, "usage").map_or(0, |usage| {
        lines::sum(
            &usage,
            &[
                "input_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
                "output_tokens",
            ],
        )
    });
    Content::Reply(Reply {
        id: message.text("id").filter(|id| !id.is_empty()),
        request: line.text("requestId").filter(|id| !id.is_empty()),
        model: message.text("model").filter(|model| model != "<synthetic>"),
        tokens,
        blocks,
    })
}

/// What a line of the user's role holds. What a command's name stands for follows in a line of its own: the
/// program wrote it, but the user asks for all of it.
pub(super) fn said<'a>(
    line: &Members<'a>,
    follows_command: bool,
    facts: &mut LogFacts,
) -> Content<'a> {
    let content = lines::object(line, "message").and_then(|message| message.present("content"));
    let Some(mut blocks) = content.and_then(|content| blocks(content, facts)) else {
        return Content::None;
    };
    if is_true(line, "isCompactSummary") {
        let texts: Vec<String> = blocks.iter().filter_map(text_of).collect();
        return Content::Summary(texts.join("\n\n"));
    }
    let is_others = has_other_origin(line);
    let is_meta = is_true(line, "isMeta");
    // A message from elsewhere may follow a command, too.
    if is_others || (is_meta && !follows_command) {
        mark_inserted(&mut blocks);
    }
    let source = if is_meta || is_others {
        Source::Program
    } else {
        Source::Prompt
    };
    Content::Said { blocks, source }
}

/// What a command of the program's own, and its output, tell the model (LCC-16). The call of a command
/// holds the user's words, between tags.
pub(super) fn local_command<'a>(line: &Members<'a>, facts: &mut LogFacts) -> Content<'a> {
    let content = line.present("content");
    let Some(mut blocks) = content.and_then(|content| blocks(content, facts)) else {
        return Content::None;
    };
    if blocks.is_empty() {
        return Content::None;
    }
    if !blocks.iter().any(names_command) {
        mark_inserted(&mut blocks);
    }
    let source = Source::Record;
    Content::Said { blocks, source }
}

/// Notes which texts only the record tells to be the program's.
pub(super) fn mark_inserted(blocks: &mut [Block<'_>]) {
    for block in blocks {
        let is_text = matches!(block.kind, BlockKind::Bare | BlockKind::Other);
        if is_text && inserted::marked_block(block.raw).is_some() {
            block.kind = BlockKind::Inserted;
        }
    }
}

/// Whether the user calls a command in a block. Who only speaks of the tag calls none.
pub(super) fn names_command(block: &Block<'_>) -> bool {
    matches!(block.kind, BlockKind::Bare | BlockKind::Other)
        && text_of(block).is_some_and(|text| begins_with_command(&text))
}

/// Whether the name of a command begins a text, or comes directly after the message of the command.
fn begins_with_command(text: &str) -> bool {
    let text = text.trim_start();
    let behind_message = text
        .strip_prefix("<command-message>")
        .and_then(|text| text.split_once("</command-message>"))
        .map_or(text, |(_, behind)| behind.trim_start());
    behind_message.starts_with("<command-name>")
}

/// Whether a line says that somebody else than the user wrote it: a task that ended, another agent.
pub(super) fn has_other_origin(line: &Members<'_>) -> bool {
    lines::object(line, "origin")
        .and_then(|origin| origin.text("kind"))
        .is_some_and(|kind| kind != "human")
}

/// The blocks of a content, without empty texts and without what is not a block, which is counted. `None` if
/// it is neither a text nor a list, or where nothing in the list is a block.
pub(super) fn blocks<'a>(content: &'a RawValue, facts: &mut LogFacts) -> Option<Vec<Block<'a>>> {
    let raw = content.get();
    if json::is_text(raw) {
        return Some(bare(raw).into_iter().collect());
    }
    let raws: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    let mut blocks = Vec::with_capacity(raws.len());
    let mut odd = 0;
    for raw in raws {
        let raw = raw.get();
        if json::is_text(raw) {
            blocks.extend(bare(raw));
            continue;
        }
        let members = serde_json::from_str::<Members<'_>>(raw).ok();
        match members.as_ref().and_then(kind_of) {
            None => odd += 1,
            Some(_) if members.as_ref().is_some_and(is_empty_text) => {}
            Some(kind) => blocks.push(Block { raw, kind }),
        }
    }
    facts.dropped_blocks += odd;
    (odd == 0 || !blocks.is_empty()).then_some(blocks)
}

/// A text alone as a block, unless it is empty.
fn bare(raw: &str) -> Option<Block<'_>> {
    let kind = BlockKind::Bare;
    (!is_blank(raw)).then_some(Block { raw, kind })
}

/// What an object in a list of blocks is; `None` if it is not a block that can be sent.
fn kind_of<'a>(members: &Members<'a>) -> Option<BlockKind<'a>> {
    Some(match members.text("type").as_deref()? {
        "thinking" | "redacted_thinking" => BlockKind::Thinking,
        "tool_use" => BlockKind::Call(members.text("id")?),
        "tool_result" => BlockKind::Result(members.text("tool_use_id")?),
        _ => BlockKind::Other,
    })
}

fn is_empty_text(members: &Members<'_>) -> bool {
    let text = members.get("text");
    members.text("type").as_deref() == Some("text") && text.is_none_or(|text| is_blank(text.get()))
}

fn text_of(block: &Block<'_>) -> Option<String> {
    let raw = match block.kind {
        BlockKind::Bare => block.raw,
        _ => {
            let members: Members<'_> = serde_json::from_str(block.raw).ok()?;
            return members.text("text").map(Cow::into_owned);
        }
    };
    Some(json::decode(raw).into_owned())
}
