//! The strip: the outcome of each unit of a conversation, from the oldest to the newest. It shows kinds,
//! numbers and tokens, but no text of the conversation.

use std::collections::HashMap;
use std::fmt::Write as _;

use anstyle::Style;
use baler_host::{
    Compaction, Conversation,
    conversation::{
        Unit, UnitKind,
        message::{Content, Message},
    },
    receipt::UnitOutcome,
};
use serde::Serialize;

use crate::figures::{self, number};
use crate::output::{BAD, CHANGED, FAINT, GOOD, styled};

/// The most lines. Longer strips merge neighbours of different kinds; if still longer, they omit the middle.
const LINES: usize = 48;

/// The outcome of a unit, or an inserted text.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Entry {
    /// The number of the unit in the original conversation; `None` for an inserted text.
    pub(crate) unit: Option<usize>,
    pub(crate) kind: &'static str,
    pub(crate) outcome: &'static str,
    /// Whether it is removed, and all of its words stand in the inserted texts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) quoted: bool,
    /// Whether the unit must not be removed.
    pub(crate) protected: bool,
    pub(crate) messages: usize,
    pub(crate) tokens_before: u32,
    pub(crate) tokens_after: u32,
}

impl Entry {
    /// Returns the outcome as the strip shows it.
    const fn shown(&self) -> &'static str {
        if self.quoted { "quoted" } else { self.outcome }
    }
}

/// Consecutive units with the same outcome, shown as one line.
#[derive(Debug, Clone)]
struct Run {
    /// The number of the first unit; `None` for an inserted text.
    first: Option<usize>,
    units: usize,
    outcome: &'static str,
    kind: &'static str,
    before: u64,
    after: u64,
}

const INSERTED: &str = "inserted";

/// Returns the outcome of every unit and the inserted texts, in the order of the conversation.
pub(crate) fn entries(before: &Conversation, compaction: &Compaction) -> Vec<Entry> {
    let changes = compaction.changes();
    let results = Results::of(before, compaction);
    let account = account(compaction, &results);
    let mut entries: Vec<Entry> = results.inserted(None).collect();
    for (index, (unit, change)) in before.units().iter().zip(&changes.units).enumerate() {
        entries.push(Entry {
            unit: Some(index),
            kind: unit.kind.name(),
            outcome: match change.outcome {
                UnitOutcome::Removed => "removed",
                UnitOutcome::Rewritten => "rewritten",
                UnitOutcome::Kept if change.is_joined => "joined",
                UnitOutcome::Kept => "kept",
            },
            quoted: change.outcome == UnitOutcome::Removed && is_quoted(before, index, &account),
            protected: change.is_protected,
            messages: unit.messages,
            tokens_before: unit.tokens,
            tokens_after: results.tokens.get(index).copied().unwrap_or(0),
        });
        entries.extend(results.inserted(Some(index)));
    }
    entries
}

/// Returns the inserted texts, each run of white space as one space.
fn account(compaction: &Compaction, results: &Results<'_>) -> String {
    let result = compaction.conversation();
    let inserted = results.inserted.values().flatten();
    let messages = inserted.flat_map(|unit| &result.all_messages()[unit.first_message..unit.end()]);
    let texts = messages.flat_map(|message| texts_of(result, message));
    texts.collect::<Vec<_>>().join(" ")
}

/// Returns the texts of a message, each run of white space as one space.
fn texts_of<'a>(
    conversation: &'a Conversation,
    message: &'a Message,
) -> impl Iterator<Item = String> {
    message.parts.iter().filter_map(|part| match &part.content {
        Content::Text(place) => {
            let text = conversation.text(place);
            Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
        }
        _ => None,
    })
}

/// Returns whether all that a unit says stands word for word in the inserted texts.
fn is_quoted(before: &Conversation, unit: usize, account: &str) -> bool {
    let is_text = |message: &Message| {
        let mut parts = message.parts.iter();
        parts.all(|part| matches!(part.content, Content::Text(_)))
    };
    let messages = before.messages(unit);
    let texts = messages
        .iter()
        .flat_map(|message| texts_of(before, message));
    let texts: Vec<String> = texts.collect();
    !texts.is_empty()
        && messages.iter().all(is_text)
        && texts.iter().all(|text| stands_in(account, text))
}

/// Returns whether a text stands in the account by itself, and not as a part of a word or, if it is short, of a sentence.
fn stands_in(account: &str, text: &str) -> bool {
    const SHORT: usize = 24;
    account.match_indices(text).any(|(at, _)| {
        let before = &account[..at];
        let begins = match text.len() < SHORT {
            true => before.ends_with(": ") || before.ends_with("- "),
            false => before.is_empty() || before.ends_with(' '),
        };
        let after = account[at + text.len()..].chars().next();
        begins && !text.is_empty() && after.is_none_or(|sign| sign == ' ')
    })
}

/// The units of a result, by the units that they come from.
struct Results<'a> {
    /// For each unit of the original conversation, its tokens in the result.
    tokens: Vec<u32>,
    /// Inserted units, by the unit that they follow; `None` at the beginning.
    inserted: HashMap<Option<usize>, Vec<&'a Unit>>,
}

impl<'a> Results<'a> {
    fn of(before: &Conversation, compaction: &'a Compaction) -> Self {
        let origins = &compaction.changes().messages;
        let units = before.units();
        let mut results = Self {
            tokens: vec![0; units.len()],
            inserted: HashMap::new(),
        };
        let mut last = None;
        for unit in compaction.conversation().units() {
            let mut messages = origins[unit.first_message..unit.end()].iter();
            match messages.find_map(|origin| origin.message()) {
                Some(message) => {
                    let from = before.unit_of(message);
                    results.tokens[from] += unit.tokens;
                    last = Some(from);
                }
                None => results.inserted.entry(last).or_default().push(unit),
            }
        }
        results
    }

    /// Returns the texts that were inserted directly after a unit; at the beginning for `None`.
    fn inserted(&self, after: Option<usize>) -> impl Iterator<Item = Entry> {
        let own = self.inserted.get(&after).into_iter().flatten();
        own.map(|unit| inserted(unit))
    }
}

fn inserted(unit: &Unit) -> Entry {
    Entry {
        unit: None,
        kind: match unit.kind {
            UnitKind::Other => "note",
            kind => kind.name(),
        },
        outcome: INSERTED,
        quoted: false,
        protected: false,
        messages: unit.messages,
        tokens_before: 0,
        tokens_after: unit.tokens,
    }
}

/// Returns the strip as text, with a line for each run of units with the same outcome.
pub(crate) fn text(entries: &[Entry]) -> String {
    let mut runs = merged(entries, |run, entry| {
        run.outcome == entry.shown() && run.kind == entry.kind
    });
    if runs.len() > LINES {
        runs = merged(entries, |run, entry| run.outcome == entry.shown());
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
    for (at, ([units, outcome, kind, count, tokens], run)) in lines.iter().zip(&runs).enumerate() {
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
        let [units_wide, outcome_wide, kind_wide, count_wide, tokens_wide] = widths;
        let outcome = styled(run.style(), &format!("{outcome:<outcome_wide$}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {units:>units_wide$}  {outcome}  {kind:<kind_wide$}  {count:>count_wide$}  {tokens:>tokens_wide$} tokens{}",
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
            outcome: entry.shown(),
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
        let tokens = if self.outcome == INSERTED {
            self.after
        } else {
            self.before
        };
        [
            units,
            self.outcome.to_owned(),
            plural,
            count,
            number(tokens),
        ]
    }

    fn becomes(&self) -> String {
        match self.outcome {
            "rewritten" | "joined" => format!(" → {}", number(self.after)),
            _ => String::new(),
        }
    }

    fn style(&self) -> Style {
        match self.outcome {
            INSERTED => GOOD,
            "rewritten" | "joined" | "quoted" => CHANGED,
            "removed" => BAD,
            _ => Style::new(),
        }
    }
}
