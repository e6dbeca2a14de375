//! The entries of a session file, each of any use taken apart one level deep.

use std::borrow::Cow;

use super::edits::Edit;
use crate::deadline::Deadline;
use crate::json::Members;
use crate::logs::lines::Lines;
use crate::model::log::{LogError, LogFacts, LogKind};

/// Types of entries that hold nothing for the model.
const BOOKKEEPING: [&str; 7] = [
    "session",
    "session_info",
    "model_change",
    "thinking_level_change",
    "usage",
    "label",
    "custom",
];

/// A session file.
#[derive(Default)]
pub(super) struct Session<'a> {
    /// The objects of the file in order, but for those that neither say anything nor have an id.
    pub(super) entries: Vec<Entry<'a>>,
    /// Whether entries form a tree: from version 2 on (LPI-1).
    pub(super) is_tree: bool,
    /// The provider that was chosen last; empty where none is named.
    pub(super) provider: String,
}

pub(super) struct Entry<'a> {
    /// Its number among all objects of the file, the first line being 0 (LPI-3).
    pub(super) number: usize,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) parent: Option<Cow<'a, str>>,
    /// The index of the entry before the last line before it that cannot be read.
    pub(super) before_gap: Option<usize>,
    pub(super) kind: Kind<'a>,
}

pub(super) enum Kind<'a> {
    /// A message, or a message of an extension (its content stands in the entry itself).
    Message(Box<Members<'a>>),
    Compaction {
        summary: Cow<'a, str>,
        /// An index or an id: the older form and the later one.
        first_kept_index: Option<usize>,
        first_kept_id: Option<Cow<'a, str>>,
        /// The instructions and tools that hold there, as a system message.
        system: Option<Box<Members<'a>>>,
    },
    BranchSummary(Cow<'a, str>),
    /// What the model sees in place of the content of the entry with this id.
    Edit {
        target: Cow<'a, str>,
        edit: Edit<'a>,
    },
    /// Nothing for the model.
    Other,
}

/// The entries of a session file, and what was found while reading.
pub(super) fn read<'a>(
    text: &'a str,
    deadline: Option<&'a Deadline>,
) -> Result<(Session<'a>, LogFacts), LogError> {
    let mut lines = Lines::new(text, deadline);
    let mut session = Session::default();
    let mut objects = 0;
    let mut broken = 0;
    let mut before_gap = None;
    while let Some(line) = lines.next() {
        let number = objects;
        objects += 1;
        if lines.facts.broken_lines > broken {
            broken = lines.facts.broken_lines;
            before_gap = session.entries.len().checked_sub(1);
        }
        let tag = line.text("type");
        let provider = line.text("provider");
        if let (Some("session" | "model_change"), Some(provider)) = (tag.as_deref(), provider) {
            session.provider = provider.into_owned();
        }
        // A file that lost its first line still has the links.
        session.is_tree |= line.get("version").is_some_and(|raw| raw.get() != "1")
            || line.get("parentId").is_some();
        let kind = kind(tag.as_deref(), &line);
        if matches!(kind, Kind::Other) {
            lines.facts.skipped_lines += 1;
            let is_known = tag.as_deref().is_some_and(|tag| BOOKKEEPING.contains(&tag));
            lines.facts.unknown_lines += usize::from(!is_known);
        }
        let id = line.text("id");
        if id.is_none() && matches!(kind, Kind::Other) {
            continue;
        }
        session.entries.push(Entry {
            number,
            id,
            parent: line.text("parentId"),
            before_gap,
            kind: match kind {
                Kind::Message(members) if members.0.is_empty() => Kind::Message(Box::new(line)),
                kind => kind,
            },
        });
    }
    Ok((session, lines.finish(LogKind::Pi)?))
}

fn kind<'a>(tag: Option<&str>, line: &Members<'a>) -> Kind<'a> {
    match tag {
        Some("message") => match line.object("message") {
            Some(message) if !message.0.is_empty() => Kind::Message(Box::new(message)),
            _ => Kind::Other,
        },
        // It has the content itself.
        Some("custom_message") => Kind::Message(Box::new(Members(Vec::new()))),
        Some("branch_summary") => match line.text("summary") {
            Some(summary) => Kind::BranchSummary(summary),
            None => Kind::Other,
        },
        Some("compaction") => match line.text("summary") {
            Some(summary) => Kind::Compaction {
                summary,
                first_kept_index: line
                    .get("firstKeptEntryIndex")
                    .and_then(|raw| raw.get().parse().ok()),
                first_kept_id: line.text("firstKeptEntryId"),
                system: line.object("systemMessage").map(Box::new),
            },
            None => Kind::Other,
        },
        Some("context_edit") => match line.text("targetId") {
            Some(target) => Kind::Edit {
                target,
                edit: Edit::of(line.get("replacement")),
            },
            None => Kind::Other,
        },
        _ => Kind::Other,
    }
}
