//! From facts to the text of a digest: what matters most gets its room first.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::costs::Costs;
use super::facts::Fact;
use super::order::{
    last_error, list, sorted_actions, sorted_requests, sorted_rules, sorted_values,
};
use super::section::Section;
use super::text;

/// The most bytes of a line that is shortened for want of room.
const SHORT: usize = 300;

/// Entries in a row that may fail to fit before the rest of a list is given up.
const MISSES: usize = 40;

/// Errors beside the last one, and open points.
const ERRORS: usize = 4;
const OPEN: usize = 24;

/// A digest, and what it holds.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) tokens: u32,
    pub(super) bytes: usize,
    pub(super) rules: Share,
    pub(super) requests: Share,
}

/// How much of something was kept.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    pub(super) kept: usize,
    pub(super) found: usize,
}

/// Writes a digest of at most so many tokens and bytes of JSON.
pub(super) fn write(
    facts: &[(usize, &Fact)],
    tokens: u32,
    bytes: usize,
    costs: &mut Costs<'_>,
) -> Written {
    let mut writer = Writer {
        costs,
        tokens,
        bytes,
        entries: BTreeMap::new(),
        texts: HashSet::new(),
        headings: BTreeSet::new(),
    };
    writer.add_last_error(facts);
    let rules = sorted_rules(facts);
    // So many rules that nothing else fits are of little use.
    let of_rules = if tokens < 500 { tokens } else { tokens / 5 * 4 };
    writer.take(Section::Rules, of_rules, rules.iter().copied());
    let requests = sorted_requests(facts);
    writer.take_requests(writer.tokens / 2, &requests);
    let earlier = list(facts, |fact| match fact {
        Fact::Earlier(line) => Some(line),
        _ => None,
    });
    writer.take(
        Section::Earlier,
        writer.tokens / 5 * 2,
        earlier.iter().copied(),
    );
    let open = list(facts, |fact| match fact {
        Fact::Open(line) => Some(line),
        _ => None,
    });
    writer.take(
        Section::Open,
        writer.tokens / 4,
        open.iter().rev().take(OPEN).copied(),
    );
    let done = sorted_actions(facts);
    let done = || done.iter().map(|(place, line)| (*place, line.as_str()));
    writer.take(Section::Done, writer.tokens / 2, done());
    writer.take_errors(writer.tokens / 3, facts);
    let values = sorted_values(facts);
    writer.take(
        Section::Values,
        writer.tokens / 5 * 3,
        values.iter().copied(),
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
    // Room that others left goes round once more.
    writer.take(Section::Rules, writer.tokens, rules.iter().copied());
    writer.take_requests(writer.tokens, &requests);
    writer.take(Section::Earlier, writer.tokens, earlier.iter().copied());
    writer.take(Section::Done, writer.tokens, done());
    writer.take(Section::Values, writer.tokens, values.iter().copied());
    writer.take(Section::Said, writer.tokens, said.iter().rev().copied());
    let distinct = rules
        .iter()
        .map(|(_, rule)| *rule)
        .collect::<BTreeSet<_>>()
        .len();
    writer.finish(tokens, bytes, distinct, requests.len())
}

struct Writer<'c, 't> {
    costs: &'c mut Costs<'t>,
    tokens: u32,
    bytes: usize,
    /// By section and place, which is the order of the text.
    entries: BTreeMap<(Section, usize), String>,
    texts: HashSet<(Section, String)>,
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
    }

    fn take_errors(&mut self, limit: u32, facts: &[(usize, &Fact)]) {
        let lines = list(facts, |fact| match fact {
            Fact::Error { line, .. } => Some(line),
            _ => None,
        });
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
                &text::block(request, SHORT),
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

    fn finish(self, tokens: u32, bytes: usize, rules: usize, requests: usize) -> Written {
        let mut text = String::new();
        let mut last = None;
        for ((section, _), entry) in &self.entries {
            if last != Some(*section) {
                if !text.is_empty() {
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
        }
    }
}

fn json_bytes(text: &str) -> usize {
    text.len()
        + text
            .bytes()
            .filter(|byte| matches!(byte, b'"' | b'\\' | b'\n'))
            .count()
}
