//! Reads the lines of a log, in order, into the segment that the model sees.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::attachments;
use super::boundaries::Boundaries;
use super::content::{Content, Source, is_prompt, local_command, names_command, root_of, said};
use super::copies::{is_copy, words};
use super::kept::Kept;
use super::queue::Queue;
use super::records::is_understood;
use super::segment::Segment;
use crate::deadline::Deadline;
use crate::json::Members;
use crate::logs::anthropic::reply::reply;
use crate::logs::lines::Lines;
use crate::model::log::{LogError, LogFacts, LogKind};

/// The result of reading all lines.
pub(super) struct Found<'a> {
    pub(super) segment: Segment<'a>,
    pub(super) facts: LogFacts,
    /// The numbers of the lines whose compactions do not hold. If it is not empty, the log has to be read
    /// again without them, because more lines count then.
    pub(super) void: HashSet<usize>,
}

/// Reads all lines. Compactions at the lines in `void` count for nothing.
pub(super) fn read_lines<'a>(
    text: &'a str,
    deadline: Option<&'a Deadline>,
    with_sidechains: bool,
    void: &HashSet<usize>,
) -> Result<Found<'a>, LogError> {
    let mut lines = Lines::new(text, deadline);
    let mut flow = Flow::new(void);
    while let Some(line) = lines.next() {
        if !with_sidechains && line.is_true("isSidechain") {
            lines.facts.sidechain_lines += 1;
            continue;
        }
        flow.add(&line, &mut lines.facts);
    }
    let facts = lines.finish(LogKind::ClaudeCode)?;
    Ok(flow.finish(facts))
}

/// The lines read so far.
struct Flow<'a, 'v> {
    segment: Segment<'a>,
    boundaries: Boundaries,
    /// The numbers of the lines whose compactions count for nothing.
    void: &'v HashSet<usize>,
    /// Whether the newest boundary is void and its summary has not come yet.
    is_void: bool,
    /// The newest line of each id.
    seen: HashMap<Cow<'a, str>, Seen<'a>>,
    /// Ids of the lines in which the user calls a command by its name.
    commands: HashSet<Cow<'a, str>>,
    queue: Queue<'a>,
    /// The id of the newest line that has one.
    newest: Option<Cow<'a, str>>,
}

/// A line that was read.
struct Seen<'a> {
    words: Option<&'a RawValue>,
    /// The number of boundaries before it.
    boundaries: usize,
}

impl<'a, 'v> Flow<'a, 'v> {
    fn new(void: &'v HashSet<usize>) -> Self {
        Self {
            segment: Segment::default(),
            boundaries: Boundaries::default(),
            void,
            is_void: false,
            seen: HashMap::new(),
            commands: HashSet::new(),
            queue: Queue::default(),
            newest: None,
        }
    }

    /// Adds a line to the segment.
    fn add(&mut self, line: &Members<'a>, facts: &mut LogFacts) {
        let id = line.text("uuid").filter(|id| !id.is_empty());
        if self.is_repeated(line, id.as_ref()) {
            facts.skipped_lines += 1;
            return;
        }
        if ends_request(line) {
            self.place_queued(facts);
        }
        let content = self.content(line, facts);
        if matches!(content, Content::None) && !is_understood(line) {
            facts.unknown_lines += 1;
        }
        if let (Some(id), Content::Said { blocks, source }) = (&id, &content)
            && *source == Source::Prompt
            && blocks.iter().any(names_command)
        {
            self.commands.insert(id.clone());
        }
        let parent = line.text("parentUuid");
        self.follow(parent.as_ref(), &content, facts);
        if !matches!(content, Content::None) {
            self.segment.sessions.extend(line.text("sessionId"));
        }
        // A boundary names its predecessor in a member of its own.
        let is_void = self.is_void;
        let parent = parent.or_else(|| line.text("logicalParentUuid").filter(|_| is_void));
        let root = root_of(line, &content);
        if id.is_some() {
            self.newest.clone_from(&id);
        }
        self.segment.push(id, parent, root, content);
    }

    /// Adds what was taken out of the queue since the model's last response. Behind the results that were
    /// recorded meanwhile, as the program sends it.
    fn place_queued(&mut self, facts: &mut LogFacts) {
        for message in self.queue.told() {
            let content = message.said(facts);
            if !matches!(content, Content::None) {
                self.segment.push(None, message.behind, None, content);
            }
        }
    }

    /// Whether a resumed session repeats an earlier line. Notes the line as the newest of its id.
    fn is_repeated(&mut self, line: &Members<'a>, id: Option<&Cow<'a, str>>) -> bool {
        let Some(id) = id else { return false };
        let words = words(line);
        let boundaries = self.boundaries.count();
        let before = self.seen.insert(id.clone(), Seen { words, boundaries });
        before.is_some_and(|before| self.segment.knows(id) && is_copy(before.words, words))
    }

    /// What a line holds for the model. A boundary begins the segment anew.
    fn content(&mut self, line: &Members<'a>, facts: &mut LogFacts) -> Content<'a> {
        match line.text("type").as_deref() {
            Some("system") => match line.text("subtype").as_deref() {
                Some("compact_boundary") => {
                    self.begin(line, facts);
                    Content::None
                }
                Some("local_command") => local_command(line, facts),
                _ => Content::None,
            },
            Some("assistant") if !line.is_true("isApiErrorMessage") => {
                reply(line, facts).map_or(Content::None, Content::Reply)
            }
            Some("user") => {
                let parent = line.text("parentUuid");
                let follows_command = parent.is_some_and(|id| self.commands.contains(&id));
                let content = said(line, follows_command, facts);
                if let Content::Said { blocks, source } = &content
                    && is_prompt(blocks, *source)
                {
                    self.queue.note_prompt(line);
                }
                content
            }
            Some("attachment") => {
                if let Some(prompt) = attachments::queued_prompt(line) {
                    self.queue.note_attachment(prompt);
                }
                attachments::content(line, facts)
            }
            Some("queue-operation") => {
                let is_known = self.queue.apply(line, self.newest.as_ref());
                facts.unknown_lines += usize::from(!is_known);
                Content::None
            }
            Some("last-prompt") => {
                self.segment.go_on_from(line.text("leafUuid"));
                Content::None
            }
            _ => Content::None,
        }
    }

    /// Begins anew at a boundary, unless it is void.
    fn begin(&mut self, line: &Members<'a>, facts: &mut LogFacts) {
        self.boundaries.begin(facts.lines);
        self.is_void = self.void.contains(&facts.lines);
        if !self.is_void {
            facts.earlier_messages += self.segment.begin(Kept::of(line));
        }
    }

    /// Applies what a line says about compactions: a summary ends one, and a prompt that continues a line from
    /// before a compaction undoes it (LCC-18).
    fn follow(
        &mut self,
        parent: Option<&Cow<'a, str>>,
        content: &Content<'a>,
        facts: &mut LogFacts,
    ) {
        match content {
            Content::None => facts.skipped_lines += 1,
            Content::Summary(_) => {
                self.boundaries.close();
                // A boundary comes before it, unless that line is broken (LCC-7).
                if !std::mem::take(&mut self.is_void) && self.segment.lacks_boundary() {
                    facts.earlier_messages += self.segment.restart(None);
                }
            }
            Content::Said { blocks, source } if is_prompt(blocks, *source) => {
                if let Some(parent) = parent
                    && let Some(before) = self.seen.get(parent)
                    && !self.boundaries.is_open()
                    && !self.segment.knows(parent)
                {
                    self.boundaries.go_back(before.boundaries);
                }
            }
            _ => {}
        }
    }

    /// Completes the segment and the counts.
    fn finish(mut self, mut facts: LogFacts) -> Found<'a> {
        if self.segment.says_anything() {
            self.place_queued(&mut facts);
            facts.queued_messages = self.queue.waiting();
        }
        facts.missing_messages = self.segment.finish();
        facts.sessions = self.segment.sessions.len();
        Found {
            void: self.boundaries.void(),
            segment: self.segment,
            facts,
        }
    }
}

/// Whether a line begins or ends a request: what waited for it was told before.
fn ends_request(line: &Members<'_>) -> bool {
    match line.text("type").as_deref() {
        Some("assistant") => true,
        Some("system") => line.text("subtype").as_deref() == Some("compact_boundary"),
        _ => false,
    }
}
