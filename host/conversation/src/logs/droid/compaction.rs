//! A compaction: the messages behind its anchor stay as they were. All before it stays in the file.

use std::borrow::Cow;

use crate::json::Members;
use crate::logs::anthropic::blocks::{blocks_of, mark_inserted};
use crate::logs::anthropic::flow::Flow;
use crate::model::log::LogFacts;

pub(super) struct Compaction<'a> {
    state: Members<'a>,
    summary: Cow<'a, str>,
    /// How many messages stand before it.
    before: usize,
}

impl<'a> Compaction<'a> {
    /// Reads a line; `None` if it has no summary, as nothing may go then.
    pub(super) fn of(state: Members<'a>, before: usize) -> Option<Self> {
        let summary = state.text("summaryText")?;
        Some(Self {
            state,
            summary,
            before,
        })
    }

    /// How many messages it took away: up to its anchor, or none where it has no anchor. A session that begins
    /// with the summary of another one has none.
    pub(super) fn first_kept(&self, messages: &[Members<'_>]) -> usize {
        let Some(anchor) = self.state.object("anchorMessage") else {
            return 0;
        };
        let id = anchor.text("id");
        let mut before = messages.iter().take(self.before);
        let by_id = id.and_then(|id| before.position(|line| line.text("id").as_ref() == Some(&id)));
        let by_index = || anchor.get("index")?.get().parse::<usize>().ok();
        match by_id.or_else(by_index) {
            Some(place) => place.saturating_add(1).min(self.before),
            None => self.before,
        }
    }

    /// Adds the summary, and what the program says of the machine behind it.
    pub(super) fn write(self, flow: &mut Flow<'a>, facts: &mut LogFacts) {
        flow.summary(self.summary.into_owned());
        if let Some(mut info) = blocks_of(&self.state, "systemInfoText", facts) {
            mark_inserted(&mut info);
            flow.said(info);
        }
    }
}
