//! What a boundary says of the messages that its compaction kept as they were. They come before it in
//! the file (LCC-8).

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{self, Members};

/// The lines that were kept.
pub(super) struct Kept<'a> {
    /// The line after which the model sees them: the summary, or the boundary itself.
    pub(super) anchor: Option<Cow<'a, str>>,
    pub(super) named: Named<'a>,
}

/// How a boundary names them.
pub(super) enum Named<'a> {
    /// By their ids.
    Each(Vec<Cow<'a, str>>),
    /// By the ends of a chain of parents, in the older form.
    Chain {
        head: Cow<'a, str>,
        tail: Cow<'a, str>,
    },
}

impl<'a> Kept<'a> {
    /// Reads the line of a boundary; `None` if it names no messages.
    pub(super) fn of(line: &Members<'a>) -> Option<Self> {
        let metadata = line.object("compactMetadata")?;
        Self::each(&metadata).or_else(|| Self::chain(&metadata))
    }

    fn each(metadata: &Members<'a>) -> Option<Self> {
        let kept = metadata.object("preservedMessages")?;
        let ids = kept.list("uuids")?;
        let named: Vec<Cow<'a, str>> = ids
            .into_iter()
            .map(RawValue::get)
            .filter(|id| json::is_text(id))
            .map(json::decode)
            .collect();
        (!named.is_empty()).then(|| Self {
            anchor: kept.text("anchorUuid"),
            named: Named::Each(named),
        })
    }

    fn chain(metadata: &Members<'a>) -> Option<Self> {
        let kept = metadata.object("preservedSegment")?;
        let named = Named::Chain {
            head: kept.text("headUuid")?,
            tail: kept.text("tailUuid")?,
        };
        let anchor = kept.text("anchorUuid");
        Some(Self { anchor, named })
    }
}
