//! The items that the model sees, as compactions and rollbacks change them.

use super::items::{self, Item, Kind};
use crate::formats::json::Members;
use crate::logs::LogFacts;
use crate::logs::lines;

#[derive(Default)]
pub(super) struct History<'a> {
    items: Vec<Item<'a>>,
    counts: Counts,
    /// Tokens, and the number of items that they cover.
    reported: Option<(u64, usize)>,
    /// What was there before the newest compaction, which a rollback brings back.
    before: Option<Box<Self>>,
    /// Items that the newest compaction left.
    start: usize,
    /// Items that compactions took away.
    earlier: usize,
}

/// Where the provider's counts belong. Versions up to 0.40 at least write the items of a response
/// after its count [measured: the growth of the context from count to count follows the outputs
/// between them]; later ones before it. Which it is shows at the first count of a file.
#[derive(Default, Clone)]
struct Counts {
    come_first: Option<bool>,
    /// Whether any part of a response was there.
    saw_reply: bool,
    /// Where the newest response ends.
    end_of_reply: usize,
    /// A count whose response comes next.
    waiting: Option<u64>,
}

impl<'a> History<'a> {
    /// Adds an item that stands without a wrapper: only of a type that is known, since nothing
    /// else tells it from a line of another kind.
    pub(super) fn add_bare(&mut self, raw: &'a str, members: &Members<'a>) -> bool {
        let is_foreign = Item::new(raw, members).is_some_and(|item| {
            let is_compaction = members
                .text("type")
                .is_some_and(|kind| kind.starts_with("compaction"));
            matches!(item.kind, Kind::Other) && !is_compaction
        });
        !is_foreign && self.add(raw, members)
    }

    /// Adds an item; false where it is none for the model.
    pub(super) fn add(&mut self, raw: &'a str, members: &Members<'a>) -> bool {
        let Some(item) = Item::new(raw, members) else {
            return false;
        };
        let is_reply = matches!(item.kind, Kind::Call { .. } | Kind::Reasoning | Kind::Reply);
        self.items.push(item);
        if is_reply {
            self.counts.saw_reply = true;
            self.counts.end_of_reply = self.items.len();
            if let Some(tokens) = self.counts.waiting {
                self.reported = Some((tokens, self.items.len()));
            }
        } else {
            self.counts.waiting = None;
        }
        true
    }

    /// What a compaction left (LCX-10): its history if it has one, else what everybody but the
    /// model said, and its summary. Codex cuts the former to its newest 20,000 tokens.
    pub(super) fn compacted(self, members: &Members<'a>, summary: &dyn Fn(&str) -> String) -> Self {
        let mut next = Self {
            // A count from before says nothing about what is there now.
            counts: Counts {
                end_of_reply: 0,
                waiting: None,
                ..self.counts
            },
            ..Self::default()
        };
        let recorded = members
            .text("message")
            .filter(|text| !text.trim().is_empty());
        match lines::list(members, "replacement_history") {
            Some(replacement) => {
                for raw in replacement {
                    let Ok(item) = serde_json::from_str::<Members<'_>>(raw.get()) else {
                        continue;
                    };
                    // The history may hold the summary that the log records beside it.
                    match &recorded {
                        Some(text) if items::user_text(&item).as_ref() == Some(text) => {
                            next.items.push(Item::summary(&summary(text)));
                        }
                        _ => {
                            next.add(raw.get(), &item);
                        }
                    }
                }
                next.earlier = self.earlier + self.items.len();
            }
            None => {
                let said = self
                    .items
                    .iter()
                    .filter(|item| matches!(item.kind, Kind::User | Kind::Input));
                next.items.extend(said.cloned());
                next.earlier = self.earlier + self.items.len() - next.items.len();
                if let Some(text) = recorded {
                    next.items.push(Item::summary(&summary(&text)));
                }
            }
        }
        next.start = next.items.len();
        next.before = Some(Box::new(self));
        next
    }

    /// Takes back the newest turns; where there are not as many, all (LCX-11). A compaction
    /// within them is taken back too.
    pub(super) fn rolled_back(mut self, event: &Members<'a>, facts: &mut LogFacts) -> Self {
        let mut turns = usize::try_from(lines::sum(event, &["num_turns"])).unwrap_or(usize::MAX);
        if turns == 0 {
            return self;
        }
        let mut starts = self.turns_since_compaction();
        while starts.len() < turns
            && let Some(before) = self.before.take()
        {
            facts.other_branches += self.items.len() - self.start;
            turns -= starts.len();
            self = *before;
            starts = self.turns_since_compaction();
        }
        let kept = starts.len().saturating_sub(turns);
        if let Some(end) = starts.get(kept) {
            facts.other_branches += self.items.len() - end;
            self.truncate(*end);
        }
        self
    }

    fn truncate(&mut self, end: usize) {
        self.items.truncate(end);
        self.reported = self.reported.filter(|(_, covered)| *covered <= end);
        self.counts.end_of_reply = self.counts.end_of_reply.min(end);
        self.counts.waiting = None;
    }

    /// Where the turns since the newest compaction begin.
    fn turns_since_compaction(&self) -> Vec<usize> {
        (self.start..self.items.len())
            .filter(|index| matches!(self.items[*index].kind, Kind::User))
            .collect()
    }

    /// Notes the size of the context (LCX-7). False where the event tells none.
    pub(super) fn note_count(&mut self, event: &Members<'a>) -> bool {
        let usage =
            lines::object(event, "info").and_then(|info| lines::object(&info, "last_token_usage"));
        let Some(usage) = usage else {
            return false;
        };
        let tokens = match lines::sum(&usage, &["total_tokens"]) {
            0 => lines::sum(&usage, &["input_tokens", "output_tokens"]),
            total => total,
        };
        let counts = &mut self.counts;
        if *counts.come_first.get_or_insert(!counts.saw_reply) {
            counts.waiting = Some(tokens);
        } else if counts.end_of_reply > 0 {
            // Outputs may stand before it, but were not sent yet.
            self.reported = Some((tokens, counts.end_of_reply));
        }
        true
    }

    /// The items, and how many tokens the provider counted up to which of them.
    pub(super) fn finish(self, facts: &mut LogFacts) -> (Vec<Item<'a>>, Option<(u64, usize)>) {
        let is_summary = |item: &&Item<'_>| matches!(item.kind, Kind::Summary);
        facts.earlier_messages += self.earlier;
        facts.recorded_summaries += self.items.iter().filter(is_summary).count();
        (self.items, self.reported)
    }
}
