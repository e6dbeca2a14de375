//! Splits text into the pieces that are encoded by themselves, as this pattern of the vocabulary does:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! | [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//! ```

use crate::table;

/// What a character is for the pattern. The build script numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Punctuation, symbols and all else.
    Other,
    Upper,
    Lower,
    /// A letter without case.
    Letter,
    Mark,
    Number,
    Space,
    Newline,
}

impl Class {
    #[inline]
    fn of(character: char) -> Self {
        match table::class(character) {
            1 => Self::Upper,
            2 => Self::Lower,
            3 => Self::Letter,
            4 => Self::Mark,
            5 => Self::Number,
            6 => Self::Space,
            7 => Self::Newline,
            _ => Self::Other,
        }
    }

    /// Whether it may be where a word has its capitals.
    const fn begins_word(self) -> bool {
        matches!(self, Self::Upper | Self::Letter | Self::Mark)
    }

    /// Whether it may be where a word has its small letters.
    const fn ends_word(self) -> bool {
        matches!(self, Self::Lower | Self::Letter | Self::Mark)
    }

    /// Whether it may stand before a word, as part of it.
    const fn precedes_word(self) -> bool {
        matches!(self, Self::Other | Self::Mark | Self::Space)
    }

    const fn is_symbol(self) -> bool {
        matches!(self, Self::Other | Self::Mark)
    }

    const fn is_white(self) -> bool {
        matches!(self, Self::Space | Self::Newline)
    }
}

/// Returns the length in bytes of the first piece of a text that is not empty.
pub(crate) fn first(text: &str) -> usize {
    let mut characters = text.chars();
    let Some(character) = characters.next() else {
        return 0;
    };
    let class = Class::of(character);
    let prefix = class.precedes_word().then_some(character.len_utf8());
    for find in [word, capitals] {
        for start in [prefix, Some(0)].into_iter().flatten() {
            if let Some(end) = find(text, start) {
                return end + contraction(&text[end..]);
            }
        }
    }
    match class {
        Class::Number => run(text, 0, Some(3), |class| class == Class::Number),
        Class::Other | Class::Mark => symbols(text, 0),
        _ if character == ' ' && characters.next().is_some_and(|c| Class::of(c).is_symbol()) => {
            symbols(text, 1)
        }
        _ => white(text),
    }
}

/// Returns the end of the run of such characters that starts at `start`, of `most` characters at most.
#[inline]
fn run(text: &str, start: usize, most: Option<usize>, is_in: impl Fn(Class) -> bool) -> usize {
    let rest = &text[start..];
    let mut characters = rest.char_indices();
    let end = match most {
        Some(most) => characters
            .enumerate()
            .find(|(index, (_, c))| *index == most || !is_in(Class::of(*c)))
            .map(|(_, (at, _))| at),
        None => characters
            .find(|(_, c)| !is_in(Class::of(*c)))
            .map(|(at, _)| at),
    };
    start + end.unwrap_or(rest.len())
}

/// Returns the end of a word with a small letter, or one without case, at its end.
fn word(text: &str, start: usize) -> Option<usize> {
    let capitals = run(text, start, None, Class::begins_word);
    let end = run(text, capitals, None, Class::ends_word);
    if end > capitals {
        return Some(end);
    }
    // What may be either is at the end of the word.
    let letters = text[start..capitals].char_indices();
    let last = letters.rev().find(|(_, c)| Class::of(*c).ends_word());
    last.map(|(at, c)| start + at + c.len_utf8())
}

/// Returns the end of a word of capitals.
fn capitals(text: &str, start: usize) -> Option<usize> {
    let end = run(text, start, None, Class::begins_word);
    (end > start).then_some(end)
}

/// Returns the length of the contraction that a text begins with.
fn contraction(text: &str) -> usize {
    let Some(rest) = text.strip_prefix('\'') else {
        return 0;
    };
    let mut letters = rest.chars();
    let first = letters.next().unwrap_or_default();
    let second = letters.next().unwrap_or_default();
    match (first.to_ascii_lowercase(), second.to_ascii_lowercase()) {
        // The long s is an s without regard to case.
        ('s' | 'ſ' | 't' | 'm' | 'd', _) => 1 + first.len_utf8(),
        ('r' | 'v', 'e') | ('l', 'l') => 3,
        _ => 0,
    }
}

/// Returns the end of symbols and what ends their line.
fn symbols(text: &str, start: usize) -> usize {
    let end = run(text, start, None, Class::is_symbol);
    let after = text[end..].find(|c| !matches!(c, '\r' | '\n' | '/'));
    after.map_or(text.len(), |after| end + after)
}

/// Returns the end of white space: after its last line break, or before its last character if a word follows.
fn white(text: &str) -> usize {
    let end = run(text, 0, None, Class::is_white);
    let white = &text[..end];
    if let Some(newline) = white.rfind(['\r', '\n']) {
        return newline + 1;
    }
    match white.char_indices().next_back() {
        Some((last, _)) if last > 0 && end < text.len() => last,
        _ => end,
    }
}
