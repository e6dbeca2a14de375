//! The items that the model sees, as compactions and rollbacks change them.
//!
//! One list holds all items, and a compaction is a place in it: what stays of the items before it
//! is shared, not copied, and a rollback cuts the list. So a log costs by its bytes, whatever its
//! lines do to each other.

use super::items::{self, Item, Kind};
use crate::json::Members;
use crate::model::log::LogFacts;

#[derive(Default)]
pub(super) struct History<'a> {
    /// All items that were not rolled back, in order.
    items: Vec<Placed<'a>>,
    segment: Segment,
    /// What held before each compaction, which a rollback restores.
    earlier: Vec<Segment>,
}

/// An item, with counts up to it and including it.
struct Placed<'a> {
    item: Item<'a>,
    /// Messages of anybody but the model.
    said: usize,
    /// Messages with which a turn begins.
    turns: usize,
}

/// What holds since a compaction, or since the beginning.
#[derive(Default, Clone, Copy)]
struct Segment {
    /// From here to `start` the model sees only what everybody but it said.
    said_from: usize,
    /// From here on it sees all items.
    start: usize,
    /// Where the items end that the compaction left.
    left: usize,
    counts: Counts,
    /// Tokens, and where the items end that they cover.
    reported: Option<(u64, usize)>,
    /// Items that compactions removed.
    removed: usize,
}

/// Where the provider's counts belong. Versions up to 0.40 at least write the items of a response
/// after its count [measured: the growth of the context from count to count follows the outputs
/// between them]; later ones before it. Which it is shows at the first count of a file.
#[derive(Default, Clone, Copy)]
struct Counts {
    come_first: Option<bool>,
    /// Whether any part of a response was there.
    saw_reply: bool,
    /// Where the newest response of the segment ends.
    end_of_reply: Option<usize>,
    /// A count whose response comes next.
    waiting: Option<u64>,
}

impl<'a> History<'a> {
    /// Adds an item that stands without a wrapper: only of a type that is known, since nothing
    /// else tells it from a line of another kind.
    pub(super) fn add_bare(&mut self, raw: &'a str, members: &Members<'a>) -> bool {
        let is_compaction = || members.string("type").starts_with("compaction");
        let is_known = |item: &Item<'_>| !matches!(item.kind, Kind::Other) || is_compaction();
        self.add_item(Item::new(raw, members).filter(is_known))
    }

    /// Adds an item; false where it is none for the model.
    pub(super) fn add(&mut self, raw: &'a str, members: &Members<'a>) -> bool {
        self.add_item(Item::new(raw, members))
    }

    /// Adds what another agent said, of which a line of its own tells (LCX-12); false where that is nothing.
    pub(super) fn add_message_of_agent(&mut self, members: &Members<'_>) -> bool {
        self.add_item(Item::of_agent(members))
    }

    fn add_item(&mut self, item: Option<Item<'a>>) -> bool {
        let Some(item) = item else {
            return false;
        };
        let is_reply = matches!(item.kind, Kind::Call { .. } | Kind::Reasoning | Kind::Reply);
        self.push(item);
        let end = self.items.len();
        let segment = &mut self.segment;
        if is_reply {
            segment.counts.saw_reply = true;
            segment.counts.end_of_reply = Some(end);
            if let Some(tokens) = segment.counts.waiting {
                segment.reported = Some((tokens, end));
            }
        } else {
            segment.counts.waiting = None;
        }
        true
    }

    fn push(&mut self, item: Item<'a>) {
        let end = self.items.len();
        let said = self.said(end) + usize::from(item.is_said());
        let turns = self.turns(end) + usize::from(item.begins_turn);
        self.items.push(Placed { item, said, turns });
    }

    /// Goes on with what a compaction left (LCX-10): its history if it has one, else what
    /// everybody but the model said, and its summary. Codex cuts the former to its newest 20,000
    /// tokens.
    pub(super) fn compact(&mut self, members: &Members<'a>) {
        let seen = self.seen();
        let start = self.items.len();
        // An empty one is none: a summary stands beside it.
        let replacement = members
            .list("replacement_history")
            .filter(|history| !history.is_empty());
        let before = self.segment;
        self.segment = Segment {
            said_from: if replacement.is_some() {
                start
            } else {
                before.said_from
            },
            start,
            left: start,
            // A count from before says nothing about what is there now.
            counts: Counts {
                end_of_reply: None,
                waiting: None,
                ..before.counts
            },
            reported: None,
            removed: before.removed,
        };
        self.segment.removed += seen - self.seen();
        self.earlier.push(before);

        let recorded = members
            .text("message")
            .filter(|text| !text.trim().is_empty());
        match (replacement, recorded) {
            (Some(replacement), recorded) => {
                for raw in replacement {
                    let Ok(item) = serde_json::from_str::<Members<'_>>(raw.get()) else {
                        continue;
                    };
                    // The history may hold the summary that the log records beside it.
                    match items::user_text(&item) {
                        Some(text) if recorded.as_ref() == Some(&text) => {
                            self.push(Item::summary(text));
                        }
                        _ => {
                            self.add(raw.get(), &item);
                        }
                    }
                }
            }
            (None, Some(text)) => self.push(Item::summary(text)),
            (None, None) => {}
        }
        self.segment.left = self.items.len();
    }

    /// Takes back the newest turns; where there are not as many, all (LCX-11). A compaction
    /// within them is taken back too.
    pub(super) fn roll_back(&mut self, event: &Members<'a>, facts: &mut LogFacts) {
        let mut turns = usize::try_from(event.sum(&["num_turns"])).unwrap_or(usize::MAX);
        if turns == 0 {
            return;
        }
        let mut own = self.turns_since_compaction();
        while own < turns
            && let Some(before) = self.earlier.pop()
        {
            facts.other_branches += self.items.len() - self.segment.left;
            turns -= own;
            self.items.truncate(self.segment.start);
            self.segment = before;
            own = self.turns_since_compaction();
        }
        let first = self.turns(self.items.len()) - own.min(turns) + 1;
        let end = self.items.partition_point(|placed| placed.turns < first);
        if end < self.items.len() {
            facts.other_branches += self.items.len() - end;
            self.truncate(end);
        }
    }

    /// Removes the items from `end` on, all of them newer than the compaction.
    fn truncate(&mut self, end: usize) {
        self.items.truncate(end);
        let Segment {
            reported, counts, ..
        } = &mut self.segment;
        *reported = reported.filter(|(_, covered)| *covered <= end);
        counts.end_of_reply = counts.end_of_reply.map(|reply| reply.min(end));
        counts.waiting = None;
    }

    /// Notes the size of the context (LCX-7). False where the event tells none.
    pub(super) fn note_count(&mut self, event: &Members<'a>) -> bool {
        let usage = event
            .object("info")
            .and_then(|info| info.object("last_token_usage"));
        let Some(usage) = usage else {
            return false;
        };
        let tokens = match usage.sum(&["total_tokens"]) {
            0 => usage.sum(&["input_tokens", "output_tokens"]),
            total => total,
        };
        let counts = &mut self.segment.counts;
        if *counts.come_first.get_or_insert(!counts.saw_reply) {
            counts.waiting = Some(tokens);
        } else if let Some(end) = counts.end_of_reply {
            // Outputs may come before it, but were not sent yet.
            self.segment.reported = Some((tokens, end));
        }
        true
    }

    /// The items that the model sees, and how many tokens the provider counted up to which of
    /// them.
    pub(super) fn finish(self, facts: &mut LogFacts) -> (Vec<Item<'a>>, Option<(u64, usize)>) {
        let shared = self.shared();
        let mut seen = Vec::with_capacity(self.seen());
        let Segment {
            said_from,
            start,
            reported,
            removed,
            ..
        } = self.segment;
        for (index, Placed { mut item, .. }) in self.items.into_iter().enumerate().skip(said_from) {
            if index < start && !item.is_said() {
                continue;
            }
            if matches!(item.kind, Kind::Summary) {
                item.tell();
            }
            seen.push(item);
        }
        facts.earlier_messages += removed;
        let reported = reported.map(|(tokens, end)| (tokens, shared + end - start));
        (seen, reported)
    }

    /// Items that the model sees.
    fn seen(&self) -> usize {
        self.shared() + self.items.len() - self.segment.start
    }

    /// Those of them that come before the compaction.
    fn shared(&self) -> usize {
        self.said(self.segment.start) - self.said(self.segment.said_from)
    }

    fn turns_since_compaction(&self) -> usize {
        self.turns(self.items.len()) - self.turns(self.segment.left)
    }

    /// Messages of anybody but the model among the first `end` items.
    fn said(&self, end: usize) -> usize {
        self.newest(end).map_or(0, |placed| placed.said)
    }

    /// Messages with which a turn begins among the first `end` items.
    fn turns(&self, end: usize) -> usize {
        self.newest(end).map_or(0, |placed| placed.turns)
    }

    fn newest(&self, end: usize) -> Option<&Placed<'a>> {
        self.items.get(end.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = r#"{"type":"message","role":"user","content":"Count the crates."}"#;
    const COMPACTED: &str = r#"{"message":"Twelve crates."}"#;

    fn members(raw: &str) -> Members<'_> {
        serde_json::from_str(raw).unwrap()
    }

    // LCX-10: each compaction keeps all that the user said.
    #[test]
    fn items_that_compactions_keep_are_stored_once() {
        let mut history = History::default();
        for _ in 0..100 {
            history.add(USER, &members(USER));
            history.compact(&members(COMPACTED));
        }
        assert_eq!((history.items.len(), history.seen()), (200, 101));
        let mut facts = LogFacts::default();
        let (items, _) = history.finish(&mut facts);
        let kinds =
            |wanted: fn(&Kind<'_>) -> bool| items.iter().filter(|item| wanted(&item.kind)).count();
        assert_eq!(kinds(|kind| matches!(kind, Kind::User)), 100);
        assert_eq!(kinds(|kind| matches!(kind, Kind::Summary)), 1);
        // Each compaction but the first one replaced the summary of the one before.
        assert_eq!(facts.earlier_messages, 99);
    }

    // LCX-11
    #[test]
    fn rollback_frees_the_items_that_it_takes_back() {
        let mut history = History::default();
        let event = r#"{"num_turns":1}"#;
        history.add(USER, &members(USER));
        for _ in 0..100 {
            history.add(USER, &members(USER));
            history.compact(&members(COMPACTED));
            // No turn since the compaction: it goes, and the turn before it.
            history.roll_back(&members(event), &mut LogFacts::default());
        }
        assert_eq!((history.items.len(), history.earlier.len()), (1, 0));
    }
}
