//! Claude Code: one line for each block of a response, user text and tool result.

mod branches;
mod segment;
mod turns;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;

use super::lines::{self, Lines, is_true};
use super::{Log, LogError, LogKind, inserted};
use crate::deadline::Deadline;
use crate::formats::json::{self, Members};
use segment::Segment;

/// Reads what the model sees: all since the last compaction (LCC-8), in file order (LCC-6).
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    let mut lines = Lines::new(text, deadline);
    let mut segment = Segment::default();
    // Lines in which the user calls a command by its name, by their ids.
    let mut commands: HashSet<Cow<'_, str>> = HashSet::new();
    while let Some(line) = lines.next() {
        if is_true(&line, "isSidechain") {
            lines.facts.sidechain_lines += 1;
            continue;
        }
        let id = line.text("uuid");
        if id.as_ref().is_some_and(|id| segment.knows(id)) {
            // A resumed session may repeat lines.
            lines.facts.skipped_lines += 1;
            continue;
        }
        let content = match line.text("type").as_deref() {
            Some("system") if line.text("subtype").as_deref() == Some("compact_boundary") => {
                lines.facts.earlier_messages += segment.restart();
                Content::None
            }
            Some("assistant") if !is_true(&line, "isApiErrorMessage") => reply(&line),
            Some("user") => {
                let parent = line.text("parentUuid");
                said(&line, parent.is_some_and(|id| commands.contains(&id)))
            }
            _ => Content::None,
        };
        if let (Some(id), Content::Said { blocks, .. }) = (&id, &content)
            && blocks.iter().any(names_command)
        {
            commands.insert(id.clone());
        }
        match &content {
            Content::None => lines.facts.skipped_lines += 1,
            // A boundary stands before it, unless that line is broken (LCC-7).
            Content::Summary(_) if segment.holds_more_than_summaries() => {
                lines.facts.earlier_messages += segment.restart();
            }
            _ => {}
        }
        if !matches!(content, Content::None) {
            segment.sessions.extend(line.text("sessionId"));
        }
        segment.push(id, line.text("parentUuid"), content);
    }
    let mut facts = lines.finish(LogKind::ClaudeCode)?;
    facts.sessions = segment.sessions.len();
    turns::body(segment, facts)
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
        /// Whether the program wrote it by itself (LCC-10).
        is_meta: bool,
    },
    /// A recorded summary.
    Summary(String),
}

/// A part of a response.
pub(super) struct Reply<'a> {
    /// What all parts of one response have in common (LCC-2).
    pub(super) id: Option<Cow<'a, str>>,
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
            BlockKind::Bare => Cow::Owned(format!(r#"{{"type":"text","text":{}}}"#, self.raw)),
            BlockKind::Inserted => {
                inserted::marked_block(self.raw).map_or(Cow::Borrowed(self.raw), Cow::Owned)
            }
            _ => Cow::Borrowed(self.raw),
        }
    }
}

fn reply<'a>(line: &Members<'a>) -> Content<'a> {
    let Some(message) = lines::object(line, "message") else {
        return Content::None;
    };
    let Some(blocks) = message.present("content").and_then(blocks) else {
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
        id: message.text("id"),
        model: message.text("model").filter(|model| model != "<synthetic>"),
        tokens,
        blocks,
    })
}

/// What a line of the user's role holds. What a command's name stands for follows in a line of its own: the
/// program wrote it, but the user asks for all of it.
fn said<'a>(line: &Members<'a>, follows_command: bool) -> Content<'a> {
    let content = lines::object(line, "message").and_then(|message| message.present("content"));
    let Some(mut blocks) = content.and_then(blocks) else {
        return Content::None;
    };
    if is_true(line, "isCompactSummary") {
        let texts: Vec<String> = blocks.iter().filter_map(text_of).collect();
        return Content::Summary(texts.join("\n\n"));
    }
    let is_meta = is_true(line, "isMeta") || has_other_origin(line);
    if is_meta && !follows_command {
        for block in &mut blocks {
            let is_text = matches!(block.kind, BlockKind::Bare | BlockKind::Other);
            if is_text && inserted::marked_block(block.raw).is_some() {
                block.kind = BlockKind::Inserted;
            }
        }
    }
    Content::Said { blocks, is_meta }
}

/// Whether the user calls a command in a block.
fn names_command(block: &Block<'_>) -> bool {
    matches!(block.kind, BlockKind::Bare | BlockKind::Other)
        && text_of(block).is_some_and(|text| text.contains("<command-name>"))
}

/// Whether a line says that somebody else than the user wrote it: a task that ended, another agent.
fn has_other_origin(line: &Members<'_>) -> bool {
    lines::object(line, "origin")
        .and_then(|origin| origin.text("kind"))
        .is_some_and(|kind| kind != "human")
}

/// The blocks of a content, without empty texts; none where it is neither a text nor a list of
/// objects.
fn blocks(content: &RawValue) -> Option<Vec<Block<'_>>> {
    let raw = content.get();
    if json::is_text(raw) {
        let is_empty = super::body::is_blank(raw);
        let kind = BlockKind::Bare;
        return Some(if is_empty {
            Vec::new()
        } else {
            vec![Block { raw, kind }]
        });
    }
    let raws: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    let mut blocks = Vec::with_capacity(raws.len());
    for raw in raws {
        let members: Members<'_> = serde_json::from_str(raw.get()).ok()?;
        let kind = match members.text("type").as_deref()? {
            "text"
                if members
                    .get("text")
                    .is_none_or(|text| super::body::is_blank(text.get())) =>
            {
                continue;
            }
            "thinking" | "redacted_thinking" => BlockKind::Thinking,
            "tool_use" => BlockKind::Call(members.text("id")?),
            "tool_result" => BlockKind::Result(members.text("tool_use_id")?),
            _ => BlockKind::Other,
        };
        let raw = raw.get();
        blocks.push(Block { raw, kind });
    }
    Some(blocks)
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
