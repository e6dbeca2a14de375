//! What a line holds for the model: blocks of a response, texts, tool results, a summary.

use std::borrow::Cow;

use crate::json::Members;
use crate::logs::anthropic::blocks::{
    Block, BlockKind, any_result, blocks, blocks_of, joined_texts, mark_inserted, text_of,
};
use crate::logs::anthropic::reply::Reply;
use crate::model::log::LogFacts;

/// Whether the user says something here, beside no results.
pub(super) fn is_prompt(blocks: &[Block<'_>], source: Source) -> bool {
    source == Source::Prompt && !any_result(blocks)
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
        && !line.is_true("isSidechain")
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

impl<'a> Content<'a> {
    /// What a line of another type than a message's says.
    pub(super) fn record(blocks: Vec<Block<'a>>) -> Self {
        let source = Source::Record;
        Self::Said { blocks, source }
    }
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

/// What a line of the user's role holds. What a command's name stands for follows in a line of its own: the
/// program wrote it, but the user asks for all of it.
pub(super) fn said<'a>(
    line: &Members<'a>,
    follows_command: bool,
    facts: &mut LogFacts,
) -> Content<'a> {
    let content = line.inside("message", "content");
    let Some(mut blocks) = content.and_then(|content| blocks(content, facts)) else {
        return Content::None;
    };
    if line.is_true("isCompactSummary") {
        return Content::Summary(joined_texts(&blocks));
    }
    let is_others = has_other_origin(line);
    let is_meta = line.is_true("isMeta");
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
    let blocks = blocks_of(line, "content", facts).filter(|blocks| !blocks.is_empty());
    let Some(mut blocks) = blocks else {
        return Content::None;
    };
    if !blocks.iter().any(names_command) {
        mark_inserted(&mut blocks);
    }
    Content::record(blocks)
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
    line.object("origin")
        .and_then(|origin| origin.text("kind"))
        .is_some_and(|kind| kind != "human")
}
