//! Writes the text of a digest from facts: what matters most gets its share of the tokens first.

use std::collections::BTreeSet;

use super::costs::Costs;
use super::facts::Fact;
use super::names::{LostName, WeightedNames};
use super::priority::{
    list, newest_tasks, sorted_actions, sorted_requests, sorted_rules, sorted_values,
};
use super::section::Section;
use super::shares;
use super::writer::Writer;

/// A digest, and what it contains.
#[derive(Debug, Default)]
pub struct Written {
    /// Sections of entries, each a line that begins with `- `.
    pub text: String,
    /// Tokens of the text, counted entry by entry.
    pub tokens: u32,
    /// Bytes of the text as a JSON string.
    pub bytes: usize,
    /// The user's rules.
    pub rules: Coverage,
    /// The user's requests.
    pub requests: Coverage,
    /// Names: those in the list of names, of those that would be lost without it.
    pub names: Coverage,
}

/// How many items of one kind a digest contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Number of items in the text.
    pub kept: usize,
    /// Number of items that were found.
    pub found: usize,
}

/// What a digest is written from.
pub(super) struct Source<'a> {
    /// Facts of the units that are not `kept`.
    pub(super) facts: &'a [(usize, &'a Fact)],
    pub(super) names: WeightedNames<'a>,
    pub(super) kept: &'a [bool],
    /// The text above the digest; empty if there is none.
    pub(super) story: &'a str,
    /// Whether the story covers all removed units.
    pub(super) is_whole: bool,
}

/// Writes a digest with its story, of at most `tokens` tokens and `bytes` bytes of JSON. Empty if the story
/// does not fit.
pub(super) fn write(
    source: &Source<'_>,
    tokens: u32,
    bytes: usize,
    costs: &mut Costs<'_>,
) -> Written {
    let Some(mut writer) = Writer::below_story(source, tokens, bytes, costs) else {
        return Written::default();
    };
    let candidates = Candidates::of(source.facts);
    let for_rules = shares::rules(writer.tokens);
    writer.add_last_error(source.facts);
    writer.take(Section::Rules, for_rules, candidates.rules.iter().copied());
    let for_names = tokens_for_names(writer.tokens, source);
    writer.tokens -= for_names;
    take_shares(&mut writer, &candidates, source.facts);
    writer.tokens += for_names;
    let lost = source.names.lost(source.kept, &writer.joined());
    let mut named = writer.take_names(for_names, &source.names, &lost);
    take_rest(&mut writer, &candidates);
    if named < lost.len() && for_names > 0 {
        writer.drop_names();
        named = writer.take_names(writer.tokens, &source.names, &lost);
    }
    // What the story says may be repeated if nothing else needs the tokens.
    if std::mem::take(&mut writer.is_whole) {
        take_rest(&mut writer, &candidates);
    }
    let mut written = writer.finish(tokens, bytes);
    written.rules.found = candidates.distinct_rules();
    written.requests.found = candidates.requests.len();
    written.names = Coverage {
        kept: named,
        found: lost.len(),
    };
    written
}

/// Candidate entries of each section, with their places, those first that are taken first.
struct Candidates<'a> {
    rules: Vec<(usize, &'a str)>,
    requests: Vec<(usize, &'a str)>,
    done: Vec<(usize, String)>,
    earlier: Vec<(usize, &'a str)>,
    tasks: Vec<(usize, &'a str)>,
    open: Vec<(usize, &'a str)>,
    decisions: Vec<(usize, &'a str)>,
    /// With the number of the line in its output.
    values: Vec<(usize, usize, &'a str)>,
    said: Vec<(usize, &'a str)>,
}

impl<'a> Candidates<'a> {
    fn of(facts: &[(usize, &'a Fact)]) -> Self {
        let newest_first = |mut entries: Vec<(usize, &'a str)>| {
            entries.reverse();
            entries
        };
        Self {
            rules: sorted_rules(facts),
            requests: sorted_requests(facts),
            done: sorted_actions(facts),
            earlier: list(facts, |fact| match fact {
                Fact::Earlier(line) => Some(line),
                _ => None,
            }),
            tasks: newest_tasks(facts),
            open: newest_first(list(facts, |fact| match fact {
                Fact::Open(line) => Some(line),
                _ => None,
            })),
            decisions: newest_first(list(facts, |fact| match fact {
                Fact::Decision(line) => Some(line),
                _ => None,
            })),
            values: sorted_values(facts),
            said: newest_first(list(facts, |fact| match fact {
                Fact::Said(line) => Some(line),
                _ => None,
            })),
        }
    }

    fn done(&self) -> impl Iterator<Item = (usize, &str)> {
        let done = self.done.iter();
        done.map(|(place, line)| (*place, line.as_str()))
    }

    /// The first line of each output, which holds its ids. Other lines say little without the ids.
    fn values_with_ids(&self) -> impl Iterator<Item = (usize, &str)> {
        let with_ids = self.values.iter().filter(|(number, ..)| *number == 0);
        with_ids.map(|(_, place, line)| (*place, *line))
    }

    fn values(&self) -> impl Iterator<Item = (usize, &str)> {
        let values = self.values.iter();
        values.map(|(_, place, line)| (*place, *line))
    }

    fn distinct_rules(&self) -> usize {
        let texts: BTreeSet<&str> = self.rules.iter().map(|(_, rule)| *rule).collect();
        texts.len()
    }
}

/// Tokens to reserve for the list of names, of those that rules and the last error left.
fn tokens_for_names(left: u32, source: &Source<'_>) -> u32 {
    if left < shares::LEAST_FOR_NAMES {
        return 0;
    }
    let lost = source.names.lost(source.kept, source.story);
    estimate(&lost).min(source.names.work.share_of_names().of(left))
}

/// Estimates the tokens of a list of these names.
fn estimate(lost: &[LostName<'_>]) -> u32 {
    let bytes: usize = lost.iter().map(|lost| lost.name.len() + 2).sum();
    (bytes as f64 / shares::NAMES_BYTES_PER_TOKEN) as u32 + shares::HEADING
}

/// First round: each section takes at most its share of what those before it left.
fn take_shares(writer: &mut Writer<'_, '_>, candidates: &Candidates<'_>, facts: &[(usize, &Fact)]) {
    let requests = &candidates.requests;
    // The task, then what was done for it, and then what else was asked.
    let (task, later) = requests.split_at(requests.len().min(1));
    writer.take_requests(shares::REQUESTS.of(writer.tokens), task);
    let limit = shares::DONE.of(writer.tokens);
    writer.take(Section::Done, limit, candidates.done());
    writer.take_requests(shares::REQUESTS.of(writer.tokens), later);
    let limit = shares::EARLIER.of(writer.tokens);
    writer.take(Section::Earlier, limit, candidates.earlier.iter().copied());
    let limit = shares::TASKS.of(writer.tokens);
    writer.take(Section::Tasks, limit, candidates.tasks.iter().copied());
    let limit = shares::OPEN.of(writer.tokens);
    let open = candidates.open.iter().copied();
    writer.take(Section::Open, limit, open.take(shares::MOST_OPEN));
    let limit = shares::DONE.of(writer.tokens);
    writer.take(Section::Done, limit, candidates.done());
    let limit = shares::DECISIONS.of(writer.tokens);
    writer.take(
        Section::Decisions,
        limit,
        candidates.decisions.iter().copied(),
    );
    writer.take_errors(shares::ERRORS.of(writer.tokens), facts);
    let limit = shares::VALUES.of(writer.tokens);
    writer.take(Section::Values, limit, candidates.values_with_ids());
    let limit = shares::SAID.of(writer.tokens);
    writer.take(Section::Said, limit, candidates.said.iter().copied());
}

/// Second round: the sections divide what the first round left.
fn take_rest(writer: &mut Writer<'_, '_>, candidates: &Candidates<'_>) {
    let requests = &candidates.requests;
    writer.take(
        Section::Rules,
        writer.tokens,
        candidates.rules.iter().copied(),
    );
    let limit = shares::DONE_AGAIN.of(writer.tokens);
    writer.take(Section::Done, limit, candidates.done());
    writer.take_requests(writer.tokens, requests);
    writer.complete_requests(shares::COMPLETED_REQUESTS.of(writer.tokens), requests);
    writer.take(
        Section::Tasks,
        writer.tokens,
        candidates.tasks.iter().copied(),
    );
    writer.take(
        Section::Earlier,
        writer.tokens,
        candidates.earlier.iter().copied(),
    );
    writer.take(Section::Done, writer.tokens, candidates.done());
    writer.take(
        Section::Decisions,
        writer.tokens,
        candidates.decisions.iter().copied(),
    );
    writer.take(Section::Values, writer.tokens, candidates.values());
    writer.take(
        Section::Said,
        writer.tokens,
        candidates.said.iter().copied(),
    );
    writer.complete_requests(writer.tokens, requests);
}
