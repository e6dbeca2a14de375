//! Collects the entries of a digest within its tokens and bytes, and joins them to the text.

use std::collections::{BTreeMap, BTreeSet};

use super::costs::Costs;
use super::facts::{Evidence, Fact};
use super::names::{LostName, WeightedNames};
use super::priority::{last_error, newest_error};
use super::section::Section;
use super::write::{Coverage, Source, Written};
use super::{shares, text};

/// Entries in a row that may fail to fit before the rest of a list is given up.
const MISSES: usize = 40;

/// Rounds in which a list of names is shortened before it is given up.
const ROUNDS_OF_NAMES: usize = 8;

/// Separates a story from the first heading.
const BELOW_STORY: &str = "\n\n";

/// Bytes that an entry or a heading adds to its own as JSON: `- ` and an escaped line break.
const AROUND_ENTRY: usize = 4;

/// The entries that were taken so far, and what is left for more.
pub(super) struct Writer<'c, 't> {
    costs: &'c mut Costs<'t>,
    story: &'c str,
    /// Whether the story covers what it can replace, so that those sections are left out.
    pub(super) is_whole: bool,
    /// Tokens that are left.
    pub(super) tokens: u32,
    /// Bytes of JSON that are left.
    bytes: usize,
    /// By section and place, which is the order of the text.
    entries: BTreeMap<(Section, usize), String>,
    texts: BTreeSet<(Section, String)>,
    headings: BTreeSet<Section>,
}

impl<'c, 't> Writer<'c, 't> {
    /// Returns a writer with what the story leaves of `tokens` and `bytes`; `None` if the story does not fit.
    pub(super) fn below_story(
        source: &Source<'c>,
        tokens: u32,
        bytes: usize,
        costs: &'c mut Costs<'t>,
    ) -> Option<Self> {
        let story = source.story;
        let (story_tokens, story_bytes) = if story.is_empty() {
            (0, 0)
        } else {
            let above = format!("{story}{BELOW_STORY}");
            (costs.of_text(&above), json_bytes(&above))
        };
        Some(Self {
            costs,
            story,
            is_whole: source.is_whole && !story.is_empty(),
            tokens: tokens.checked_sub(story_tokens)?,
            bytes: bytes.checked_sub(story_bytes)?,
            entries: BTreeMap::new(),
            texts: BTreeSet::new(),
            headings: BTreeSet::new(),
        })
    }
}

impl Writer<'_, '_> {
    /// Adds an entry, if it fits with its heading within `limit`, which it then reduces. Returns whether the
    /// text contains the entry.
    fn add(&mut self, section: Section, place: usize, text: &str, limit: &mut u32) -> bool {
        let room = self.tokens.min(*limit);
        if text.is_empty() || is_too_long(text, room) {
            return false;
        }
        if self.entries.contains_key(&(section, place))
            || self.texts.contains(&(section, text.to_owned()))
        {
            return true;
        }
        let mut tokens = self.costs.of(text);
        let mut bytes = json_bytes(text) + AROUND_ENTRY;
        if !self.headings.contains(&section) {
            tokens += self.costs.of_heading(section);
            bytes += section.heading().len() + AROUND_ENTRY;
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

    /// Adds as many of these entries as fit within `limit`, in their order.
    pub(super) fn take<'a>(
        &mut self,
        section: Section,
        mut limit: u32,
        entries: impl IntoIterator<Item = (usize, &'a str)>,
    ) {
        if self.is_whole && section.is_replaced_by_story() {
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

    /// Adds the last error in full, or shortened if it would take most of the tokens.
    pub(super) fn add_last_error(&mut self, facts: &[(usize, &Fact)]) {
        if let Some((place, line)) = last_error(facts) {
            let mut limit = shares::LAST_ERROR.of(self.tokens);
            if !self.add(Section::Errors, place, line, &mut limit) {
                let mut limit = self.tokens;
                let short = text::line(line, shares::SHORT_ENTRY);
                self.add(Section::Errors, place, &short, &mut limit);
            }
        }
        // A newer line that only contains a word for an error may be one.
        if let Some((place, line)) = newest_error(facts) {
            let mut limit = shares::POSSIBLE_ERROR.of(self.tokens);
            self.add(Section::Errors, place, line, &mut limit);
        }
    }

    /// Adds the newest errors, at most [`shares::MOST_ERRORS`] besides the last one.
    pub(super) fn take_errors(&mut self, limit: u32, facts: &[(usize, &Fact)]) {
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
        // Of the lines that only contain a word for an error, the last may be one.
        lines.extend(word_only);
        lines.sort_unstable();
        let mut seen = BTreeSet::new();
        let distinct: Vec<(usize, String)> = lines
            .into_iter()
            .rev()
            .filter(|(_, line)| seen.insert(*line))
            .take(1 + shares::MOST_ERRORS)
            .map(|(place, line)| (place, text::line(line, shares::SHORT_ENTRY)))
            .collect();
        self.take(
            Section::Errors,
            limit,
            distinct.iter().map(|(place, line)| (*place, line.as_str())),
        );
    }

    /// Joins the story and all entries, to look up names in them.
    pub(super) fn joined(&self) -> String {
        let entries = self.entries.values().map(String::as_str);
        let texts: Vec<&str> = std::iter::once(self.story).chain(entries).collect();
        texts.join("\n")
    }

    /// Adds a list of the first of these names, as many as fit within `limit`. Returns their number.
    pub(super) fn take_names(
        &mut self,
        limit: u32,
        names: &WeightedNames<'_>,
        lost: &[LostName<'_>],
    ) -> usize {
        let limit = limit.min(self.tokens);
        let mut estimate = 0.0;
        let mut number = lost
            .iter()
            .take_while(|lost| {
                estimate += (lost.name.len() + 2) as f64 / shares::NAMES_BYTES_PER_TOKEN;
                estimate <= f64::from(limit)
            })
            .count();
        // Counts the lines as they will be written; two or three rounds come close enough.
        for _ in 0..ROUNDS_OF_NAMES {
            if number == 0 {
                return 0;
            }
            let lines = names.lines(&lost[..number]);
            let heading = self.costs.of_heading(Section::Names);
            let cost = lines
                .iter()
                .fold(heading, |sum, line| sum.saturating_add(self.costs.of(line)));
            let bytes: usize = lines
                .iter()
                .map(|line| json_bytes(line) + AROUND_ENTRY)
                .sum();
            let bytes = bytes + Section::Names.heading().len() + AROUND_ENTRY;
            if cost <= limit && bytes <= self.bytes {
                for (place, line) in lines.iter().enumerate() {
                    let mut limit = self.tokens;
                    self.add(Section::Names, place, line, &mut limit);
                }
                return number;
            }
            let of_tokens = f64::from(limit) / f64::from(cost.max(1));
            let of_bytes = self.bytes as f64 / bytes as f64;
            let fewer = number as f64 * of_tokens.min(of_bytes) * shares::FEWER_NAMES;
            number = (fewer as usize).min(number - 1);
        }
        0
    }

    /// Removes the list of names.
    pub(super) fn drop_names(&mut self) {
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
            self.bytes += json_bytes(&line) + AROUND_ENTRY;
            self.texts.remove(&(Section::Names, line));
        }
        if self.headings.remove(&Section::Names) {
            tokens += self.costs.of_heading(Section::Names);
            self.bytes += Section::Names.heading().len() + AROUND_ENTRY;
        }
        self.tokens += tokens;
    }

    /// Adds requests in full if they fit, otherwise their beginnings.
    pub(super) fn take_requests(&mut self, mut limit: u32, requests: &[(usize, &str)]) {
        let mut misses = 0;
        for (place, request) in requests {
            let for_one = shares::ONE_REQUEST.of(limit);
            let mut left = for_one;
            if request.len() > shares::SHORT_ENTRY
                && self.add(Section::Requests, *place, request, &mut left)
            {
                limit = for_one + left;
                misses = 0;
            } else if self.add(
                Section::Requests,
                *place,
                // The request is already a block.
                &text::shorten_to_sentence(request, shares::SHORT_ENTRY),
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

    /// Replaces shortened requests by the full ones, as far as they fit within `limit`.
    pub(super) fn complete_requests(&mut self, mut limit: u32, requests: &[(usize, &str)]) {
        for (place, request) in requests {
            let key = (Section::Requests, *place);
            let Some(short) = self.entries.get(&key).filter(|entry| *entry != request) else {
                continue;
            };
            let short = short.clone();
            let freed = self.costs.of(&short);
            if is_too_long(request, limit + freed) {
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

    /// Joins story and entries to a digest of at most `tokens` and `bytes`, of which the writer knows what is
    /// left. The caller knows how many items were found.
    pub(super) fn finish(self, tokens: u32, bytes: usize) -> Written {
        let kept = |wanted: Section| Coverage {
            kept: self.entries.keys().filter(|(of, _)| *of == wanted).count(),
            found: 0,
        };
        Written {
            text: self.text(),
            tokens: tokens - self.tokens,
            bytes: bytes - self.bytes,
            rules: kept(Section::Rules),
            requests: kept(Section::Requests),
            names: Coverage::default(),
        }
    }

    fn text(&self) -> String {
        let mut text = self.story.to_owned();
        let mut last = None;
        for ((section, _), entry) in &self.entries {
            if last != Some(*section) {
                if last.is_none() && !text.is_empty() {
                    text.push_str(BELOW_STORY);
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
        text
    }
}

/// Whether a text has more bytes than so many tokens can have. Then it need not be counted.
const fn is_too_long(text: &str, tokens: u32) -> bool {
    text.len() / shares::MOST_BYTES_PER_TOKEN > tokens as usize
}

/// Bytes of a text within a JSON string.
fn json_bytes(text: &str) -> usize {
    text.len()
        + text
            .bytes()
            .filter(|byte| matches!(byte, b'"' | b'\\' | b'\n' | b'\t'))
            .count()
}
