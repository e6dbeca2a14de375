//! From facts to the text of a digest: what matters most gets its room first.

use std::collections::{BTreeMap, BTreeSet};

use super::costs::Costs;
use super::facts::{Evidence, Fact};
use super::names::{Lost, Weighed};
use super::order::{
    last_error, list, newest_error, newest_tasks, sorted_actions, sorted_requests, sorted_rules,
    sorted_values,
};
use super::section::Section;
use super::text;

/// The most bytes of a line that is shortened for want of room.
const SHORT: usize = 300;

/// Entries in a row that may fail to fit before the rest of a list is given up.
const MISSES: usize = 40;

/// A text with less room than this has no list of names.
const LEAST_FOR_NAMES: u32 = 80;

/// What a heading and a label cost, roughly.
const HEADING: u32 = 16;

/// What names and the commas between them cost, roughly, before they are counted.
const BYTES_PER_TOKEN: f64 = 2.5;

/// The part of the room that a line may take which only holds a word for an error.
const WORD_ONLY: u32 = 8;

/// Between a story and the first heading.
const BELOW: &str = "\n\n";

/// Errors beside the last one, and open points.
const ERRORS: usize = 4;
const OPEN: usize = 8;

/// A digest, and what it holds.
#[derive(Debug, Default)]
pub struct Written {
    /// Sections of entries, each a line that begins with `- `.
    pub text: String,
    /// What it costs, counted entry by entry.
    pub tokens: u32,
    /// Bytes of it as a string of JSON.
    pub bytes: usize,
    /// The user's rules in it.
    pub rules: Share,
    /// The user's requests in it.
    pub requests: Share,
    /// Names in its list of names, and names that would be gone without it.
    pub names: Share,
}

/// How much of something was kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// So many stand in the text.
    pub kept: usize,
    /// Of so many.
    pub found: usize,
}

/// What a digest is written of.
pub(super) struct Told<'a> {
    /// Those of the units that are not `kept`.
    pub(super) facts: &'a [(usize, &'a Fact)],
    pub(super) names: Weighed<'a>,
    pub(super) kept: &'a [bool],
    /// What stands above it; empty where there is none.
    pub(super) story: &'a str,
    /// Whether that tells all that a story can tell.
    pub(super) is_whole: bool,
}

/// Writes a digest of at most so many tokens and bytes of JSON, with its story.
pub(super) fn write(told: &Told<'_>, tokens: u32, bytes: usize, costs: &mut Costs<'_>) -> Written {
    let Told {
        facts,
        names,
        kept,
        story,
        is_whole,
    } = told;
    let (of_story, bytes_of_story) = if story.is_empty() {
        (0, 0)
    } else {
        let above = format!("{story}{BELOW}");
        (costs.of_text(&above), json_bytes(&above))
    };
    let (Some(left), Some(bytes_left)) = (
        tokens.checked_sub(of_story),
        bytes.checked_sub(bytes_of_story),
    ) else {
        return Written::default();
    };
    let mut writer = Writer {
        costs,
        story,
        is_whole: *is_whole && !story.is_empty(),
        tokens: left,
        bytes: bytes_left,
        entries: BTreeMap::new(),
        texts: BTreeSet::new(),
        headings: BTreeSet::new(),
    };
    writer.add_last_error(facts);
    let rules = sorted_rules(facts);
    // So many rules that nothing else fits are of little use.
    let of_rules = if left < 500 { left } else { left / 5 * 4 };
    writer.take(Section::Rules, of_rules, rules.iter().copied());
    // Names get their room whatever there is to tell: nothing else says as much in as little.
    let of_names = if writer.tokens < LEAST_FOR_NAMES {
        0
    } else {
        estimate(&names.lost(kept, story)).min(writer.tokens / names.work.part_of_names())
    };
    writer.tokens -= of_names;
    let requests = sorted_requests(facts);
    // The task, then what came of it, and then what else was asked.
    let (task, later) = requests.split_at(requests.len().min(1));
    writer.take_requests(writer.tokens / 2, task);
    let done = sorted_actions(facts);
    let done = || done.iter().map(|(place, line)| (*place, line.as_str()));
    writer.take(Section::Done, writer.tokens / 3, done());
    writer.take_requests(writer.tokens / 2, later);
    let earlier = list(facts, |fact| match fact {
        Fact::Earlier(line) => Some(line),
        _ => None,
    });
    writer.take(
        Section::Earlier,
        writer.tokens / 5 * 2,
        earlier.iter().copied(),
    );
    let tasks = newest_tasks(facts);
    writer.take(Section::Tasks, writer.tokens / 4, tasks.iter().copied());
    let open = list(facts, |fact| match fact {
        Fact::Open(line) => Some(line),
        _ => None,
    });
    writer.take(
        Section::Open,
        writer.tokens / 4,
        open.iter().rev().take(OPEN).copied(),
    );
    writer.take(Section::Done, writer.tokens / 3, done());
    let decisions = list(facts, |fact| match fact {
        Fact::Decision(line) => Some(line),
        _ => None,
    });
    writer.take(
        Section::Decisions,
        writer.tokens / 2,
        decisions.iter().rev().copied(),
    );
    writer.take_errors(writer.tokens / 3, facts);
    let values = sorted_values(facts);
    // What else an output held says little without its ids.
    let with_ids = values.iter().filter(|(first, ..)| *first == 0);
    writer.take(
        Section::Values,
        writer.tokens / 5 * 3,
        with_ids.map(|(_, place, line)| (*place, *line)),
    );
    let said = list(facts, |fact| match fact {
        Fact::Said(line) => Some(line),
        _ => None,
    });
    writer.take(
        Section::Said,
        writer.tokens / 5 * 3,
        said.iter().rev().copied(),
    );
    writer.tokens += of_names;
    let lost = names.lost(kept, &writer.joined());
    let mut named = writer.take_names(of_names, names, &lost);
    // Room that others left goes round once more.
    let values: Vec<(usize, &str)> = values
        .iter()
        .map(|(_, place, line)| (*place, *line))
        .collect();
    let rest = |writer: &mut Writer<'_, '_>| {
        writer.take(Section::Rules, writer.tokens, rules.iter().copied());
        writer.take(Section::Done, writer.tokens / 2, done());
        writer.take_requests(writer.tokens, &requests);
        writer.complete_requests(writer.tokens / 2, &requests);
        writer.take(Section::Tasks, writer.tokens, tasks.iter().copied());
        writer.take(Section::Earlier, writer.tokens, earlier.iter().copied());
        writer.take(Section::Done, writer.tokens, done());
        writer.take(
            Section::Decisions,
            writer.tokens,
            decisions.iter().rev().copied(),
        );
        writer.take(Section::Values, writer.tokens, values.iter().copied());
        writer.take(Section::Said, writer.tokens, said.iter().rev().copied());
        writer.complete_requests(writer.tokens, &requests);
    };
    rest(&mut writer);
    if named < lost.len() && of_names > 0 {
        writer.drop_names();
        named = writer.take_names(writer.tokens, names, &lost);
    }
    // What is told above may stand there once more where nothing else wants the room.
    if std::mem::take(&mut writer.is_whole) {
        rest(&mut writer);
    }
    let distinct = rules
        .iter()
        .map(|(_, rule)| *rule)
        .collect::<BTreeSet<_>>()
        .len();
    let mut written = writer.finish(tokens, bytes, distinct, requests.len());
    written.names = Share {
        kept: named,
        found: lost.len(),
    };
    written
}

/// What a list of these names would cost, roughly.
fn estimate(lost: &[Lost<'_>]) -> u32 {
    let bytes: usize = lost.iter().map(|lost| lost.name.len() + 2).sum();
    (bytes as f64 / BYTES_PER_TOKEN) as u32 + HEADING
}

struct Writer<'c, 't> {
    costs: &'c mut Costs<'t>,
    story: &'c str,
    /// What a story can tell stands in it.
    is_whole: bool,
    tokens: u32,
    bytes: usize,
    /// By section and place, which is the order of the text.
    entries: BTreeMap<(Section, usize), String>,
    texts: BTreeSet<(Section, String)>,
    headings: BTreeSet<Section>,
}

impl Writer<'_, '_> {
    /// Adds an entry, if there is room for it and its heading within `limit`. False where
    /// there is none.
    fn add(&mut self, section: Section, place: usize, text: &str, limit: &mut u32) -> bool {
        let room = self.tokens.min(*limit);
        // No text of so many bytes has so few tokens; it need not be counted.
        if text.is_empty() || text.len() / 24 > room as usize {
            return false;
        }
        if self.entries.contains_key(&(section, place))
            || self.texts.contains(&(section, text.to_owned()))
        {
            return true;
        }
        let mut tokens = self.costs.of(text);
        let mut bytes = json_bytes(text) + 4;
        if !self.headings.contains(&section) {
            tokens += self.costs.of_heading(section);
            bytes += section.heading().len() + 4;
        }
        if tokens > room || bytes > self.bytes {
            return false;
        }
        self.tokens -= tokens;
        self.bytes -= bytes;
        *limit -= tokens;
        self.headings.insert(section);
        self.texts.insert((section, text.to_owned()));
        self.entries.insert((section, place), text.to_owned());
        true
    }

    fn take<'a>(
        &mut self,
        section: Section,
        mut limit: u32,
        entries: impl IntoIterator<Item = (usize, &'a str)>,
    ) {
        if self.is_whole && section.can_be_told() {
            return;
        }
        let mut misses = 0;
        for (place, text) in entries {
            if self.add(section, place, text, &mut limit) {
                misses = 0;
            } else {
                misses += 1;
            }
            if misses > MISSES {
                break;
            }
        }
    }

    /// The last error whole; shortened where it would take most of the room.
    fn add_last_error(&mut self, facts: &[(usize, &Fact)]) {
        if let Some((place, line)) = last_error(facts) {
            let mut limit = self.tokens / 5 * 3;
            if !self.add(Section::Errors, place, line, &mut limit) {
                let mut limit = self.tokens;
                self.add(Section::Errors, place, &text::line(line, SHORT), &mut limit);
            }
        }
        // A newer line that only holds a word for an error may be one after all.
        if let Some((place, line)) = newest_error(facts) {
            let mut limit = self.tokens / WORD_ONLY;
            self.add(Section::Errors, place, line, &mut limit);
        }
    }

    fn take_errors(&mut self, limit: u32, facts: &[(usize, &Fact)]) {
        let mut lines = Vec::new();
        let mut word_only = None;
        for (place, fact) in facts {
            match fact {
                Fact::Error {
                    line,
                    evidence: Evidence::Sure,
                } => lines.push((*place, line.as_str())),
                Fact::Error { line, .. } => word_only = Some((*place, line.as_str())),
                _ => {}
            }
        }
        // Of those that only hold a word, the last may be one after all.
        lines.extend(word_only);
        lines.sort_unstable();
        let mut seen = BTreeSet::new();
        let distinct: Vec<(usize, String)> = lines
            .into_iter()
            .rev()
            .filter(|(_, line)| seen.insert(*line))
            .take(1 + ERRORS)
            .map(|(place, line)| (place, text::line(line, SHORT)))
            .collect();
        self.take(
            Section::Errors,
            limit,
            distinct.iter().map(|(place, line)| (*place, line.as_str())),
        );
    }

    /// Story and all entries, for a look at what they say.
    fn joined(&self) -> String {
        let entries = self.entries.values().map(String::as_str);
        let texts: Vec<&str> = std::iter::once(self.story).chain(entries).collect();
        texts.join("\n")
    }

    /// Adds a list of as many of these names as cost no more than `limit`, those first that come
    /// first. Gives their number.
    fn take_names(&mut self, limit: u32, names: &Weighed<'_>, lost: &[Lost<'_>]) -> usize {
        let limit = limit.min(self.tokens);
        let mut estimate = 0.0;
        let mut number = lost
            .iter()
            .take_while(|lost| {
                estimate += (lost.name.len() + 2) as f64 / BYTES_PER_TOKEN;
                estimate <= f64::from(limit)
            })
            .count();
        // Lines are counted as they will stand; two or three rounds come close enough.
        for _ in 0..8 {
            if number == 0 {
                return 0;
            }
            let lines = names.lines(&lost[..number]);
            let heading = self.costs.of_heading(Section::Names);
            let cost = lines
                .iter()
                .fold(heading, |sum, line| sum.saturating_add(self.costs.of(line)));
            let bytes: usize = lines.iter().map(|line| json_bytes(line) + 4).sum();
            let bytes = bytes + Section::Names.heading().len() + 4;
            if cost <= limit && bytes <= self.bytes {
                for (place, line) in lines.iter().enumerate() {
                    let mut limit = self.tokens;
                    self.add(Section::Names, place, line, &mut limit);
                }
                return number;
            }
            let of_tokens = f64::from(limit) / f64::from(cost.max(1));
            let of_bytes = self.bytes as f64 / bytes as f64;
            let fewer = number as f64 * of_tokens.min(of_bytes) * 0.97;
            number = (fewer as usize).min(number - 1);
        }
        0
    }

    /// Takes the list of names out again.
    fn drop_names(&mut self) {
        let mut tokens = 0;
        let names: Vec<(Section, usize)> = self
            .entries
            .keys()
            .filter(|(section, _)| *section == Section::Names)
            .copied()
            .collect();
        for key in names {
            let Some(line) = self.entries.remove(&key) else {
                continue;
            };
            tokens += self.costs.of(&line);
            self.bytes += json_bytes(&line) + 4;
            self.texts.remove(&(Section::Names, line));
        }
        if self.headings.remove(&Section::Names) {
            tokens += self.costs.of_heading(Section::Names);
            self.bytes += Section::Names.heading().len() + 4;
        }
        self.tokens += tokens;
    }

    /// Requests whole where they fit, else their beginnings.
    fn take_requests(&mut self, mut limit: u32, requests: &[(usize, &str)]) {
        let mut misses = 0;
        for (place, request) in requests {
            let mut whole = limit / 2;
            if request.len() > SHORT && self.add(Section::Requests, *place, request, &mut whole) {
                limit = limit / 2 + whole;
                misses = 0;
            } else if self.add(
                Section::Requests,
                *place,
                // It is a block already.
                &text::shorten_to_sentence(request, SHORT),
                &mut limit,
            ) {
                misses = 0;
            } else {
                misses += 1;
            }
            if misses > MISSES {
                break;
            }
        }
    }

    /// Puts the whole in the place of requests that were shortened, as far as that costs no more than `limit`.
    fn complete_requests(&mut self, mut limit: u32, requests: &[(usize, &str)]) {
        for (place, request) in requests {
            let key = (Section::Requests, *place);
            let Some(short) = self.entries.get(&key).filter(|entry| *entry != request) else {
                continue;
            };
            let short = short.clone();
            let freed = self.costs.of(&short);
            // No text of so many bytes has so few tokens; it need not be counted.
            if request.len() / 24 > (limit + freed) as usize {
                continue;
            }
            let tokens = self.costs.of(request).saturating_sub(freed);
            let bytes = json_bytes(request).saturating_sub(json_bytes(&short));
            if tokens > limit.min(self.tokens) || bytes > self.bytes {
                continue;
            }
            self.tokens -= tokens;
            self.bytes -= bytes;
            limit -= tokens;
            self.texts.remove(&(Section::Requests, short));
            self.texts
                .insert((Section::Requests, (*request).to_owned()));
            self.entries.insert(key, (*request).to_owned());
        }
    }

    fn finish(self, tokens: u32, bytes: usize, rules: usize, requests: usize) -> Written {
        let mut text = self.story.to_owned();
        let mut last = None;
        for ((section, _), entry) in &self.entries {
            if last != Some(*section) {
                if last.is_none() && !text.is_empty() {
                    text.push_str(BELOW);
                } else if last.is_some() {
                    text.push('\n');
                }
                text.push_str(section.heading());
                text.push('\n');
                last = Some(*section);
            }
            text.push_str("- ");
            text.push_str(entry);
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        let kept = |of| {
            self.entries
                .keys()
                .filter(|(section, _)| *section == of)
                .count()
        };
        Written {
            text,
            tokens: tokens - self.tokens,
            bytes: bytes - self.bytes,
            rules: Share {
                kept: kept(Section::Rules),
                found: rules,
            },
            requests: Share {
                kept: kept(Section::Requests),
                found: requests,
            },
            names: Share::default(),
        }
    }
}

fn json_bytes(text: &str) -> usize {
    text.len()
        + text
            .bytes()
            .filter(|byte| matches!(byte, b'"' | b'\\' | b'\n' | b'\t'))
            .count()
}
