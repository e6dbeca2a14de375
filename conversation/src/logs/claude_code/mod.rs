//! Claude Code: one line for each block of a response, user text and tool result.

mod attachments;
mod boundaries;
mod branches;
mod copies;
mod kept;
mod results;
mod segment;
mod turns;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::lines::{self, Lines, is_true};
use super::{Log, inserted};
use crate::deadline::Deadline;
use crate::formats::anthropic::write;
use crate::json::{self, Members};
use crate::model::log::{LogError, LogFacts, LogKind};
use boundaries::Boundaries;
use copies::{is_copy, words};
use kept::Kept;
use segment::Segment;

/// Reads what the model sees: all since the last compaction and what it kept (LCC-8), in file order
/// (LCC-6).
pub(super) fn read(text: &str, deadline: Option<&Deadline>) -> Result<Log, LogError> {
    match read_flow(text, deadline, false) {
        // The transcript of a sub-agent: all of its messages are of a side chain.
        Err(LogError::NoMessages { .. }) => read_flow(text, deadline, true),
        main => main,
    }
}

/// Reads the main flow, or that of the side chains too.
fn read_flow(
    text: &str,
    deadline: Option<&Deadline>,
    with_sidechains: bool,
) -> Result<Log, LogError> {
    let mut found = read_lines(text, deadline, with_sidechains, &HashSet::new())?;
    if !found.void.is_empty() {
        let void = std::mem::take(&mut found.void);
        // It holds about as much as the text.
        drop(found);
        found = read_lines(text, deadline, with_sidechains, &void)?;
    }
    turns::body(found.segment, found.facts)
}

/// What the lines of a log come to.
struct Found<'a> {
    segment: Segment<'a>,
    facts: LogFacts,
    /// The lines of boundaries that do not hold: had that been known, more would be there.
    void: HashSet<usize>,
}

/// What is known of a line that was read, by its id.
struct Seen<'a> {
    words: Option<&'a RawValue>,
    /// How many boundaries stood in front of it.
    boundaries: usize,
}

/// Reads all lines. Boundaries on `void` ones hold nothing.
fn read_lines<'a>(
    text: &'a str,
    deadline: Option<&'a Deadline>,
    with_sidechains: bool,
    void: &HashSet<usize>,
) -> Result<Found<'a>, LogError> {
    let mut lines = Lines::new(text, deadline);
    let mut segment = Segment::default();
    let mut boundaries = Boundaries::default();
    // Whether the newest boundary is void, and its summary did not come yet.
    let mut is_void = false;
    // The newest line of each id.
    let mut seen: HashMap<Cow<'a, str>, Seen<'a>> = HashMap::new();
    // Lines in which the user calls a command by its name, by their ids.
    let mut commands: HashSet<Cow<'_, str>> = HashSet::new();
    while let Some(line) = lines.next() {
        if !with_sidechains && is_true(&line, "isSidechain") {
            lines.facts.sidechain_lines += 1;
            continue;
        }
        let id = line.text("uuid").filter(|id| !id.is_empty());
        let words = words(&line);
        let own = Seen {
            words,
            boundaries: boundaries.count(),
        };
        let before = id.clone().and_then(|id| seen.insert(id, own));
        if let (Some(id), Some(before)) = (&id, before)
            && segment.knows(id)
            && is_copy(before.words, words)
        {
            // A resumed session may repeat lines.
            lines.facts.skipped_lines += 1;
            continue;
        }
        let facts = &mut lines.facts;
        let content = match line.text("type").as_deref() {
            Some("system") => match line.text("subtype").as_deref() {
                Some("compact_boundary") => {
                    boundaries.begin(facts.lines);
                    is_void = void.contains(&facts.lines);
                    if !is_void {
                        facts.earlier_messages += segment.begin(Kept::of(&line));
                    }
                    Content::None
                }
                Some("local_command") => local_command(&line, facts),
                _ => Content::None,
            },
            Some("assistant") if !is_true(&line, "isApiErrorMessage") => reply(&line, facts),
            Some("user") => {
                let parent = line.text("parentUuid");
                let follows_command = parent.is_some_and(|id| commands.contains(&id));
                said(&line, follows_command, facts)
            }
            Some("attachment") => attachments::content(&line, facts),
            Some("last-prompt") => {
                segment.go_on_from(line.text("leafUuid"));
                Content::None
            }
            _ => Content::None,
        };
        if let (Some(id), Content::Said { blocks, source }) = (&id, &content)
            && *source == Source::Prompt
            && blocks.iter().any(names_command)
        {
            commands.insert(id.clone());
        }
        let parent = line.text("parentUuid");
        match &content {
            Content::None => lines.facts.skipped_lines += 1,
            Content::Summary(_) => {
                boundaries.close();
                // A boundary stands before it, unless that line is broken (LCC-7).
                if !std::mem::take(&mut is_void) && segment.lacks_boundary() {
                    lines.facts.earlier_messages += segment.restart(None);
                }
            }
            // Behind a line from before a compaction, the model sees what it saw there (LCC-18).
            Content::Said { blocks, source } if is_prompt(blocks, *source) => {
                if let Some(parent) = &parent
                    && let Some(before) = seen.get(parent)
                    && !boundaries.is_open()
                    && !segment.knows(parent)
                {
                    boundaries.go_back(before.boundaries);
                }
            }
            _ => {}
        }
        if !matches!(content, Content::None) {
            segment.sessions.extend(line.text("sessionId"));
        }
        // A boundary hangs on nothing else.
        let parent = parent.or_else(|| line.text("logicalParentUuid").filter(|_| is_void));
        let root = root_of(&line, &content);
        segment.push(id, parent, root, content);
    }
    let mut facts = lines.finish(LogKind::ClaudeCode)?;
    facts.missing_messages = segment.finish();
    facts.sessions = segment.sessions.len();
    let void = boundaries.void();
    Ok(Found {
        segment,
        facts,
        void,
    })
}

/// Whether the user says something here, beside no results.
fn is_prompt(blocks: &[Block<'_>], source: Source) -> bool {
    let is_result = |block: &Block<'_>| matches!(block.kind, BlockKind::Result(_));
    source == Source::Prompt && !blocks.iter().any(is_result)
}

/// The session in which a line is a prompt that the user typed and that hangs on nothing (LCC-19).
fn root_of<'a>(line: &Members<'a>, content: &Content<'a>) -> Option<Cow<'a, str>> {
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
    /// What all parts of one response have in common (LCC-2); none where it is empty.
    pub(super) id: Option<Cow<'a, str>>,
    /// The request that it answers, which gateways may not tell; none where it is empty.
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

fn reply<'a>(line: &Members<'a>, facts: &mut LogFacts) -> Content<'a> {
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
fn said<'a>(line: &Members<'a>, follows_command: bool, facts: &mut LogFacts) -> Content<'a> {
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
fn local_command<'a>(line: &Members<'a>, facts: &mut LogFacts) -> Content<'a> {
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
fn mark_inserted(blocks: &mut [Block<'_>]) {
    for block in blocks {
        let is_text = matches!(block.kind, BlockKind::Bare | BlockKind::Other);
        if is_text && inserted::marked_block(block.raw).is_some() {
            block.kind = BlockKind::Inserted;
        }
    }
}

/// Whether the user calls a command in a block. Who only speaks of the tag calls none.
fn names_command(block: &Block<'_>) -> bool {
    matches!(block.kind, BlockKind::Bare | BlockKind::Other)
        && text_of(block).is_some_and(|text| begins_with_command(&text))
}

/// Whether the name of a command begins a text, or stands directly behind the message of the command.
fn begins_with_command(text: &str) -> bool {
    let text = text.trim_start();
    let behind_message = text
        .strip_prefix("<command-message>")
        .and_then(|text| text.split_once("</command-message>"))
        .map_or(text, |(_, behind)| behind.trim_start());
    behind_message.starts_with("<command-name>")
}

/// Whether a line says that somebody else than the user wrote it: a task that ended, another agent.
fn has_other_origin(line: &Members<'_>) -> bool {
    lines::object(line, "origin")
        .and_then(|origin| origin.text("kind"))
        .is_some_and(|kind| kind != "human")
}

/// The blocks of a content, without empty texts and without what is no block, which is counted. None where
/// it is neither a text nor a list, or where nothing in the list is a block.
fn blocks<'a>(content: &'a RawValue, facts: &mut LogFacts) -> Option<Vec<Block<'a>>> {
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
    (!super::body::is_blank(raw)).then_some(Block { raw, kind })
}

/// What an object in a list of blocks is; none where it is no block that can be sent.
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
    members.text("type").as_deref() == Some("text")
        && text.is_none_or(|text| super::body::is_blank(text.get()))
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
