//! The strip: what became of a conversation, unit by unit, from the oldest to the newest.
//! Kinds, numbers and tokens; never a word of the conversation.

use std::fmt::Write as _;

use anstyle::Style;
use baler_host::{Compaction, Conversation, Fate, Unit, UnitKind};
use serde::Serialize;

use crate::figures::{self, number};
use crate::output::{BAD, CHANGED, FAINT, GOOD, styled};

/// Longer strips merge neighbours of different kinds, and then leave out their middle.
const LINES: usize = 48;

/// What became of a unit, or a text that was inserted.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Entry {
    /// The unit's number before; none for what was inserted.
    pub(crate) unit: Option<usize>,
    pub(crate) kind: &'static str,
    pub(crate) fate: &'static str,
    /// It had to stay.
    pub(crate) protected: bool,
    pub(crate) messages: usize,
    pub(crate) tokens_before: u32,
    pub(crate) tokens_after: u32,
}

/// Lines of equal fate, one after the other.
#[derive(Debug, Clone)]
struct Run {
    /// The first unit's number; none for what was inserted.
    first: Option<usize>,
    units: usize,
    fate: &'static str,
    kind: &'static str,
    before: u64,
    after: u64,
}

const INSERTED: &str = "inserted";

/// What became of every unit, and what was inserted, in the order of the conversation.
pub(crate) fn entries(before: &Conversation, compaction: &Compaction) -> Vec<Entry> {
    let after = compaction.conversation();
    let fates = compaction.fates();
    let mut stayed = (0..before.units().len())
        .filter(|unit| fates.get(*unit) != Some(&Fate::Dropped))
        .peekable();
    let mut results = after.units().iter().enumerate().peekable();
    let mut entries = Vec::with_capacity(before.units().len());
    for (index, unit) in before.units().iter().enumerate() {
        let next = stayed.peek().copied();
        while let Some((_, result)) =
            results.next_if(|(result, of)| is_inserted(before, next, after, *result, of))
        {
            entries.push(inserted(result));
        }
        let result = stayed.next_if_eq(&index).and_then(|_| results.next());
        entries.push(Entry {
            unit: Some(index),
            kind: unit.kind.name(),
            fate: match fates.get(index) {
                Some(Fate::Dropped) => "dropped",
                Some(Fate::Rewritten) => "rewritten",
                // Text that joined a message makes it larger, and leaves its own parts alone.
                _ if result.is_some_and(|(_, result)| result.bytes > unit.bytes) => "joined",
                _ => "kept",
            },
            protected: compaction.protected().get(index) == Some(&true),
            messages: unit.messages,
            tokens_before: unit.tokens,
            tokens_after: result.map_or(0, |(_, result)| result.tokens),
        });
    }
    entries.extend(results.map(|(_, result)| inserted(result)));
    entries
}

/// Whether a unit of the result is an inserted text and not `next`, the next unit that stayed.
fn is_inserted(
    before: &Conversation,
    next: Option<usize>,
    after: &Conversation,
    result: usize,
    of: &Unit,
) -> bool {
    matches!(of.kind, UnitKind::Summary | UnitKind::Other)
        && !next.is_some_and(|next| before.raw_messages(next).eq(after.raw_messages(result)))
}

fn inserted(unit: &Unit) -> Entry {
    Entry {
        unit: None,
        kind: match unit.kind {
            UnitKind::Other => "note",
            kind => kind.name(),
        },
        fate: INSERTED,
        protected: false,
        messages: unit.messages,
        tokens_before: 0,
        tokens_after: unit.tokens,
    }
}

/// The strip as text, a line for each run of units that fared alike.
pub(crate) fn text(entries: &[Entry]) -> String {
    let mut runs = merged(entries, |run, entry| {
        run.fate == entry.fate && run.kind == entry.kind
    });
    if runs.len() > LINES {
        runs = merged(entries, |run, entry| run.fate == entry.fate);
    }
    let lines: Vec<[String; 5]> = runs.iter().map(Run::columns).collect();
    let mut widths = [0; 5];
    for line in &lines {
        for (width, column) in widths.iter_mut().zip(line) {
            *width = column.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    let left_out = lines.len().saturating_sub(LINES);
    let gap = if left_out == 0 {
        lines.len()
    } else {
        LINES / 2
    };
    for (at, ([units, fate, kind, count, tokens], run)) in lines.iter().zip(&runs).enumerate() {
        if at == gap {
            let more = format!(
                "… {} more lines; --json shows every unit …",
                number(left_out as u64)
            );
            let _ = writeln!(text, "  {}", styled(FAINT, &more));
        }
        if (gap..gap + left_out).contains(&at) {
            continue;
        }
        let [units_wide, fate_wide, kind_wide, count_wide, tokens_wide] = widths;
        let fate = styled(run.style(), &format!("{fate:<fate_wide$}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {units:>units_wide$}  {fate}  {kind:<kind_wide$}  {count:>count_wide$}  {tokens:>tokens_wide$} tokens{}",
            run.becomes()
        );
    }
    text
}

fn merged(entries: &[Entry], alike: impl Fn(&Run, &Entry) -> bool) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for entry in entries {
        match runs.last_mut() {
            Some(run) if entry.unit.is_some() && alike(run, entry) => run.add(entry),
            _ => runs.push(Run::of(entry)),
        }
    }
    runs
}

impl Run {
    fn of(entry: &Entry) -> Self {
        Self {
            first: entry.unit,
            units: 1,
            fate: entry.fate,
            kind: entry.kind,
            before: entry.tokens_before.into(),
            after: entry.tokens_after.into(),
        }
    }

    fn add(&mut self, entry: &Entry) {
        self.units += 1;
        self.before += u64::from(entry.tokens_before);
        self.after += u64::from(entry.tokens_after);
        if self.kind != entry.kind {
            self.kind = "mixed";
        }
    }

    fn columns(&self) -> [String; 5] {
        let units = match self.first {
            None => "+".to_owned(),
            Some(first) if self.units == 1 => first.to_string(),
            Some(first) => format!("{first}–{}", first + self.units - 1),
        };
        let plural = match self.kind {
            "user" | "step" if self.units > 1 => format!("{}s", self.kind),
            "summary" if self.units > 1 => "summaries".to_owned(),
            kind => kind.to_owned(),
        };
        let count = match self.first {
            None => String::new(),
            Some(_) => figures::count(self.units, "unit"),
        };
        let count = if self.units == 1 {
            format!("{count} ")
        } else {
            count
        };
        let tokens = if self.fate == INSERTED {
            self.after
        } else {
            self.before
        };
        [units, self.fate.to_owned(), plural, count, number(tokens)]
    }

    fn becomes(&self) -> String {
        match self.fate {
            "rewritten" | "joined" => format!(" → {}", number(self.after)),
            _ => String::new(),
        }
    }

    fn style(&self) -> Style {
        match self.fate {
            INSERTED => GOOD,
            "rewritten" | "joined" => CHANGED,
            "dropped" => BAD,
            _ => Style::new(),
        }
    }
}
