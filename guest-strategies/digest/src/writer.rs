//! Collects the entries of a digest within its tokens and bytes, and joins them to the text.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::costs::Costs;
use super::facts::REPAIRED;
use super::priority::{last_error, newest_error};
use super::section::Section;
use super::write::{Coverage, Source, Written};
use super::{looks, shares, text};

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
    /// By their positions, which is the order of the text; without their labels.
    entries: BTreeMap<Position, String>,
    texts: BTreeSet<(Section, String)>,
    /// The first sections of those that have their heading.
    headings: BTreeSet<Section>,
}

/// Where an entry stands: the first section of its heading, its place, and its own section.
type Position = (Section, usize, Section);

const fn position(section: Section, place: usize) -> Position {
    (section.group(), place, section)
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
    pub(super) fn add(
        &mut self,
        section: Section,
        place: usize,
        text: &str,
        limit: &mut u32,
    ) -> bool {
        let room = self.tokens.min(*limit);
        if text.is_empty() || is_too_long(text, room) {
            return false;
        }
        if self.entries.contains_key(&position(section, place))
            || self.texts.contains(&(section, text.to_owned()))
        {
            return true;
        }
        let (mut tokens, mut bytes) = self.cost(section, text);
        if !self.headings.contains(&section.group()) {
            tokens += self.costs.of_heading(section);
            bytes += section.heading().len() + AROUND_ENTRY;
        }
        if tokens > room || bytes > self.bytes {
            return false;
        }
        self.tokens -= tokens;
        self.bytes -= bytes;
        *limit -= tokens;
        self.headings.insert(section.group());
        self.texts.insert((section, text.to_owned()));
        self.entries
            .insert(position(section, place), text.to_owned());
        true
    }

    /// Returns the tokens and the bytes of JSON of an entry.
    fn cost(&mut self, section: Section, text: &str) -> (u32, usize) {
        let text = section.labelled(text);
        (self.costs.of(&text), json_bytes(&text) + AROUND_ENTRY)
    }

    /// Adds the last error in full, or shortened if it would take most of the tokens.
    pub(super) fn add_last_error(&mut self, source: &Source<'_>) {
        if let Some((place, line)) = last_error(source.facts, source.repairs) {
            let mut limit = shares::LAST_ERROR.of(self.tokens);
            if !self.add(Section::Errors, place, &line, &mut limit) {
                let mut limit = self.tokens;
                let (line, suffix) = match line.strip_suffix(REPAIRED) {
                    Some(line) => (line, REPAIRED),
                    None => (&*line, ""),
                };
                let short = format!("{}{suffix}", text::line(line, shares::SHORT_ENTRY));
                self.add(Section::Errors, place, &short, &mut limit);
            }
        }
        // A newer line that only contains a word for an error may be one.
        if let Some((place, line)) = newest_error(source.facts, source.repairs) {
            let mut limit = shares::POSSIBLE_ERROR.of(self.tokens);
            self.add(Section::Errors, place, line, &mut limit);
        }
    }

    /// Whether an entry is at this place.
    pub(super) fn has(&self, section: Section, place: usize) -> bool {
        self.entries.contains_key(&position(section, place))
    }

    /// Iterates the entries that were taken, with their sections.
    pub(super) fn texts(&self) -> impl Iterator<Item = (Section, &str)> {
        let entries = self.entries.iter();
        entries.map(|((.., section), text)| (*section, text.as_str()))
    }

    /// Joins the story and all entries, to look up names in them.
    pub(super) fn joined(&self) -> String {
        let entries = self.entries.values().map(String::as_str);
        let texts: Vec<&str> = std::iter::once(self.story).chain(entries).collect();
        texts.join("\n")
    }

    /// Adds or replaces these entries, if they all fit. Otherwise nothing changes.
    ///
    /// # Errors
    /// The share of them that may fit.
    pub(super) fn replace_all(&mut self, entries: &[(Section, usize, String)]) -> Result<(), f64> {
        let (mut tokens, mut bytes) = (0u32, 0usize);
        let (mut freed_tokens, mut freed_bytes) = (0u32, 0usize);
        let mut headings = BTreeSet::new();
        for (section, place, text) in entries {
            let (own_tokens, own_bytes) = self.cost(*section, text);
            tokens = tokens.saturating_add(own_tokens);
            bytes += own_bytes;
            if let Some(before) = self.entries.get(&position(*section, *place)).cloned() {
                let (own_tokens, own_bytes) = self.cost(*section, &before);
                freed_tokens += own_tokens;
                freed_bytes += own_bytes;
            }
            let group = section.group();
            if !self.headings.contains(&group) && headings.insert(group) {
                tokens = tokens.saturating_add(self.costs.of_heading(*section));
                bytes += section.heading().len() + AROUND_ENTRY;
            }
        }
        let room = (self.tokens + freed_tokens, self.bytes + freed_bytes);
        if tokens > room.0 || bytes > room.1 {
            let of_tokens = f64::from(room.0) / f64::from(tokens.max(1));
            return Err(of_tokens.min(room.1 as f64 / bytes.max(1) as f64));
        }
        self.tokens = room.0 - tokens;
        self.bytes = room.1 - bytes;
        self.headings.append(&mut headings);
        for (section, place, text) in entries {
            let before = self
                .entries
                .insert(position(*section, *place), text.clone());
            if let Some(before) = before {
                self.texts.remove(&(*section, before));
            }
            self.texts.insert((*section, text.clone()));
        }
        Ok(())
    }

    /// Replaces an entry by a longer one, if that fits within `limit`. Returns whether it does.
    pub(super) fn complete(
        &mut self,
        section: Section,
        place: usize,
        text: &str,
        limit: u32,
    ) -> bool {
        let key = position(section, place);
        let Some(short) = self.entries.get(&key).cloned() else {
            return false;
        };
        let (freed_tokens, freed_bytes) = self.cost(section, &short);
        if is_too_long(text, limit + freed_tokens) {
            return false;
        }
        let (tokens, bytes) = self.cost(section, text);
        if tokens > limit.min(self.tokens) + freed_tokens || bytes > self.bytes + freed_bytes {
            return false;
        }
        self.tokens = self.tokens + freed_tokens - tokens;
        self.bytes = self.bytes + freed_bytes - bytes;
        self.texts.remove(&(section, short));
        self.texts.insert((section, text.to_owned()));
        self.entries.insert(key, text.to_owned());
        true
    }

    /// Joins story and entries to a digest of at most `tokens` and `bytes`, of which the writer knows what is
    /// left. The caller knows how many items were found.
    pub(super) fn finish(mut self, tokens: u32, bytes: usize) -> Written {
        // Joined lines have fewer tokens than their entries.
        let joined = self.lines();
        if joined.len() < self.entries.len() {
            let lines = joined.iter().map(|(_, line)| self.costs.of(line));
            let as_lines: u32 = lines.fold(0, u32::saturating_add);
            let entries = self.entries.iter();
            let entries =
                entries.map(|((.., section), entry)| self.costs.of(&section.labelled(entry)));
            let as_entries: u32 = entries.fold(0, u32::saturating_add);
            self.tokens += as_entries.saturating_sub(as_lines);
        }
        Written {
            text: self.text(&joined),
            tokens: tokens - self.tokens,
            bytes: bytes - self.bytes,
            names: Coverage::default(),
        }
    }

    /// Returns the entries as they stand in the text, by the first sections of their headings.
    fn lines(&self) -> Vec<(Section, String)> {
        let mut lines = Vec::with_capacity(self.entries.len());
        let mut done: Vec<&str> = Vec::new();
        let close = |lines: &mut Vec<(Section, String)>, done: &mut Vec<&str>| {
            let joined = looks::joined(done).into_iter();
            lines.extend(joined.map(|line| (Section::Done.group(), line)));
            done.clear();
        };
        for ((group, _, section), entry) in &self.entries {
            let line = section.labelled(entry);
            if let (Section::Done, Cow::Borrowed(line)) = (section, &line) {
                done.push(line);
                continue;
            }
            close(&mut lines, &mut done);
            lines.push((*group, line.into_owned()));
        }
        close(&mut lines, &mut done);
        lines
    }

    fn text(&self, lines: &[(Section, String)]) -> String {
        let mut text = self.story.to_owned();
        let mut last = None;
        for (group, line) in lines {
            if last != Some(*group) {
                if last.is_none() && !text.is_empty() {
                    text.push_str(BELOW_STORY);
                } else if last.is_some() {
                    text.push('\n');
                }
                text.push_str(group.heading());
                text.push('\n');
                last = Some(*group);
            }
            text.push_str("- ");
            text.push_str(line);
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
