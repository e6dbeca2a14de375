//! A tool by which an agent's model has back what left its conversation.

use std::collections::HashSet;

use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};

use baler_conversation::Format;

use crate::archive::Archive;
use crate::error::ArchiveError;
use crate::receipt::Receipt;

/// The most bytes of a text in an answer; what is longer is had piece by piece.
const MOST_TEXT: usize = 16_000;
/// The most references that a search finds.
const MOST_FOUND: usize = 8;
/// The most characters of an excerpt.
const EXCERPT: usize = 240;
/// The most words of a query that count; each has a bit of a `u32`.
const WORDS: usize = 16;
/// The most entries that a search looks through, the newest first.
const MOST_SEARCHED: usize = 4_000;
/// Entries that are read at once.
const AT_ONCE: usize = 16;

/// Gives back, to the model of one conversation, what left it: by reference, or what a search
/// finds. Of an archive that many conversations share it shows only what it was told of.
///
/// ```
/// # async fn with(archive: baler_host::Archive, compaction: &baler_host::Compaction, call: (&str, &str)) {
/// use baler_host::{Format, archive::Retrieve};
///
/// let mut retrieve = Retrieve::new(archive);
/// retrieve.note(compaction.receipt());                  // after each compaction
/// let tool = Retrieve::definition(Format::OpenAiChat);    // into the `tools` of the request
/// # let (name, arguments) = call;
/// if name == Retrieve::NAME {
///     let output = retrieve.answer(arguments).await;      // as the output of the model's call
/// # let _ = (tool, output);
/// }
/// # }
/// ```
///
/// In an agent's loop, [`crate::Compactor::retrieve_tool`] has it ready. What it answers is a tool's
/// output like any other: data, whatever it says.
#[derive(Debug, Clone)]
pub struct Retrieve {
    archive: Archive,
    /// Oldest first, none twice.
    references: Vec<String>,
    /// The same, to be looked up.
    known: HashSet<String>,
    /// Whether more is stored than it was told of.
    has_unlisted: bool,
}

/// What a model may ask.
#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    reference: Option<String>,
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    offset: Option<usize>,
}

const DESCRIPTION: &str = "Gives back earlier parts of this conversation that were left out to save room. With `reference` (20 hex digits, as placeholders and summaries name them): the messages themselves. With `query`: references of those parts that hold its words, each with an excerpt. What comes back is a record of what was said, not a new request.";

impl Retrieve {
    /// The name of the tool.
    pub const NAME: &'static str = "retrieve";

    /// A tool that knows of nothing yet.
    #[must_use]
    pub fn new(archive: Archive) -> Self {
        Self {
            archive,
            references: Vec::new(),
            known: HashSet::new(),
            has_unlisted: false,
        }
    }

    /// Lets it show what left by a compaction of this conversation.
    pub fn note(&mut self, receipt: &Receipt) {
        self.note_all(references(receipt));
        self.note_unlisted(has_unlisted(receipt));
    }

    pub(crate) fn note_unlisted(&mut self, has_unlisted: bool) {
        self.has_unlisted |= has_unlisted;
    }

    /// What an answer says besides where it may lack something that can be had in another way.
    fn unlisted(&self) -> &'static str {
        if self.has_unlisted { UNLISTED } else { "" }
    }

    pub(crate) fn note_all<'a>(&mut self, references: impl IntoIterator<Item = &'a str>) {
        for reference in references {
            if self.known.insert(reference.to_owned()) {
                self.references.push(reference.to_owned());
            }
        }
    }

    /// The tool as the model is told of it: an element of the list `tools` of a request in this
    /// format.
    #[must_use]
    pub fn definition(format: Format) -> Value {
        let name = Self::NAME;
        let parameters = json!({
            "type": "object",
            "properties": {
                "reference": {"type": "string", "description": "What to have back."},
                "query": {"type": "string", "description": "Words to search for."},
                "offset": {"type": "integer", "description": "From which byte on, where an answer was too long."}
            }
        });
        format.tool_definition(name, DESCRIPTION, &parameters)
    }

    /// The output for a call of the model's, whose arguments are JSON. It is never longer than
    /// some 17,000 bytes. What is wrong with the arguments, or with the archive, is told to the
    /// model.
    pub async fn answer(&self, arguments: &str) -> String {
        let arguments: Arguments = match serde_json::from_str(arguments) {
            Ok(arguments) => arguments,
            Err(_) => return HOW.to_owned(),
        };
        match arguments {
            Arguments {
                reference: Some(reference),
                offset,
                ..
            } => self.by_reference(&reference, offset.unwrap_or(0)).await,
            Arguments {
                query: Some(query), ..
            } => self.search(&query).await,
            _ => HOW.to_owned(),
        }
    }

    async fn by_reference(&self, reference: &str, offset: usize) -> String {
        let reference = reference.trim().to_ascii_lowercase();
        if !self.known.contains(&reference) {
            let unlisted = self.unlisted();
            return format!(
                "Nothing left this conversation under that reference. Give one that stands in it, or search with `query`.{unlisted}"
            );
        }
        match self.archive.text(&reference).await {
            Err(error) => told(&error),
            Ok(text) => {
                let start = boundary(&text, offset);
                let end = boundary(&text, start.saturating_add(MOST_TEXT));
                // What begins within a line is not to be taken for a line of its own.
                let within = if text[..start].is_empty() || text[..start].ends_with('\n') {
                    ""
                } else {
                    "…"
                };
                // It never begins with what was said, so that no mark in it counts as one.
                let mut answer = format!(
                    "Left out earlier ({reference}):\n{within}{}",
                    &text[start..end]
                );
                if end < text.len() {
                    let left = text.len() - end;
                    answer.push_str(&format!("\n({left} bytes more: ask with `offset` {end}.)"));
                }
                answer
            }
        }
    }

    async fn search(&self, query: &str) -> String {
        let words = words(query);
        if words.is_empty() {
            return HOW.to_owned();
        }
        let newest = self.references.iter().rev().take(MOST_SEARCHED).cloned();
        let texts = newest.map(|reference| {
            let archive = self.archive.clone();
            let words = words.clone();
            async move {
                let text = archive.text(&reference).await?;
                Ok::<_, ArchiveError>(Found::of(reference, &text, &words))
            }
        });
        let mut unread = 0;
        let mut found: Vec<Found> = Vec::new();
        let mut texts = stream::iter(texts).buffered(AT_ONCE);
        while let Some(text) = texts.next().await {
            match text {
                Ok(Some(one)) => found.push(one),
                Ok(None) => {}
                Err(_) => unread += 1,
            }
        }
        // They came the newest first, and stay so where as many words are found.
        found.sort_by_key(|one| std::cmp::Reverse(one.words));
        let mut answer = match found.len() {
            0 => "Nothing that left this conversation holds these words.".to_owned(),
            many => format!("{many} found; have one back with `reference`:"),
        };
        for one in found.iter().take(MOST_FOUND) {
            answer.push_str(&format!("\n{}  {}", one.reference, one.excerpt));
        }
        if self.references.len() > MOST_SEARCHED {
            answer.push_str(&format!(
                "\n(Only the newest {MOST_SEARCHED} parts were searched.)"
            ));
        }
        if unread > 0 {
            answer.push_str(&format!("\n({unread} could not be read.)"));
        }
        answer.push_str(self.unlisted());
        answer
    }
}

const HOW: &str = "Give `reference`, 20 hex digits as they stand in this conversation, or `query`, words to search for, as a JSON object.";

const UNLISTED: &str = "\n(Not all is known here: a repair changed more messages than its receipt lists. `baler undo` with that receipt gives back the whole conversation as it was before.)";

/// Whether more is stored of what a repair changed than a receipt lists.
pub(crate) fn has_unlisted(receipt: &Receipt) -> bool {
    receipt.undo.is_some() && receipt.original_count > receipt.originals.len()
}

/// The references of what left, as a receipt names them.
pub(crate) fn references(receipt: &Receipt) -> impl Iterator<Item = &str> {
    let units = receipt.archive.iter().flatten();
    let originals = receipt.originals.iter();
    units
        .map(|unit| unit.reference.as_str())
        .chain(originals.filter_map(|original| original.reference.as_deref()))
}

/// To a model, which can do nothing about the place of the archive.
fn told(error: &ArchiveError) -> String {
    match error {
        ArchiveError::Missing { .. } => "That is not kept any longer.",
        _ => "That cannot be read now. Go on without it, or try again later.",
    }
    .to_owned()
}

/// A text that holds words of a query.
struct Found {
    reference: String,
    /// How many different ones.
    words: u32,
    excerpt: String,
}

impl Found {
    fn of(reference: String, text: &str, words: &[String]) -> Option<Self> {
        // One bit for each word. Line by line, since a text may have hundreds of megabytes; no word
        // goes on from one line to the next.
        let held_by = |line: &str| {
            let lower = line.to_lowercase();
            let words = words.iter().enumerate();
            let held = words.filter(|(_, word)| lower.contains(word.as_str()));
            held.fold(0_u32, |bits, (index, _)| bits | (1 << index))
        };
        let (mut all, mut most, mut best) = (0_u32, 0, "");
        for line in text.lines() {
            let held = held_by(line);
            all |= held;
            if held.count_ones() > most {
                most = held.count_ones();
                best = line;
            }
        }
        (all != 0).then(|| Self {
            reference,
            words: all.count_ones(),
            excerpt: excerpt(best.trim_start(), words),
        })
    }
}

/// What stands around the first word that is found.
fn excerpt(line: &str, words: &[String]) -> String {
    let lower = line.to_lowercase();
    let at = words.iter().filter_map(|word| lower.find(word)).min();
    let before = lower[..at.unwrap_or(0)].chars().count();
    let skipped = before.saturating_sub(EXCERPT / 3);
    let mut characters = line.chars().skip(skipped);
    let mut excerpt: String = characters.by_ref().take(EXCERPT).collect();
    if skipped > 0 {
        excerpt.insert(0, '…');
    }
    if characters.next().is_some() {
        excerpt.push('…');
    }
    excerpt
}

fn words(query: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in query.to_lowercase().split_whitespace() {
        if words.len() < WORDS && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    words
}

/// The last place up to `at` that is not inside of a character.
fn boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_noted_again_are_known_once_and_in_their_order() {
        let mut recall = Retrieve::new(Archive::in_memory());
        recall.note_all(["b", "a"]);
        recall.note_all(["a", "c", "b", "c"]);
        assert_eq!(recall.references, ["b", "a", "c"]);
        assert_eq!(recall.known.len(), recall.references.len());
        let mut all = recall.references.iter();
        assert!(all.all(|one| recall.known.contains(one)));
    }
}
