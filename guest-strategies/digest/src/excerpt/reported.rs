//! What the errors in a text are about, so that other lines about the same are found.

use std::collections::BTreeMap;

use crate::errors;

/// Least letters of a word that says what an error is about, and most bytes of an error that are read.
const WORD: usize = 6;
const READ: usize = 240;

/// Most lines that have such a word. A word in more lines says nothing about any of them.
const LINES: u32 = 8;

/// Words of the errors in a text, with the number of lines that have them.
pub(super) struct Reported<'a>(BTreeMap<&'a str, u32>);

impl<'a> Reported<'a> {
    pub(super) fn of(lines: &[&'a str]) -> Self {
        let errors = lines.iter().filter(|line| reports(line));
        let words = errors.flat_map(|line| words(&line[..line.floor_char_boundary(READ)]));
        let mut found: BTreeMap<&str, u32> = words.map(|word| (word, 0)).collect();
        if !found.is_empty() {
            for line in lines.iter().filter(|line| !reports(line)) {
                for (place, word) in words_with_place(line) {
                    if let Some(count) = found.get_mut(word).filter(|_| is_telling(place, word)) {
                        *count += 1;
                    }
                }
            }
        }
        found.retain(|_, count| (1..=LINES).contains(count));
        Self(found)
    }

    /// Whether a line that reports no error is about the same as one that does: `tokenizers==0.20.0` below
    /// `ERROR: tokenizers<0.20 is wanted`.
    pub(super) fn is_about(&self, line: &str) -> bool {
        let is_known =
            |(place, word): (usize, &str)| is_telling(place, word) && self.0.contains_key(word);
        !self.0.is_empty() && words_with_place(line).any(is_known) && !reports(line)
    }
}

/// Whether a line reports an error, or is the one that a test runner marks: `>       moor(berth)`.
fn reports(line: &str) -> bool {
    errors::is_error_from_its_start(line) || line.trim_start().starts_with(">  ")
}

/// Whether a word says what a line is about, by its place: the first one does, and symbols do.
fn is_telling(place: usize, word: &str) -> bool {
    place == 0 || word[1..].contains(|c: char| c == '_' || c.is_ascii_uppercase())
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    words_with_place(line).map(|(_, word)| word)
}

fn words_with_place(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    let words = words.filter(|word| !word.is_empty()).enumerate();
    words.filter(|(_, word)| word.len() >= WORD && word.as_bytes()[0].is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_what_an_error_names_are_found() {
        let lines = [
            "sailcloth==0.20.0",
            "    # via sailcloth",
            "anchors==1.2",
            "    quay.moor_at.return_value = None",
            "ERROR: sailcloth<0.20 is wanted",
            ">       berth = self.moor_at(quay)",
            "versions of it are many",
        ];
        let reported = Reported::of(&lines);
        let about: Vec<bool> = lines.iter().map(|line| reported.is_about(line)).collect();
        assert_eq!(about, [true, false, false, true, false, false, false]);
    }

    #[test]
    fn what_is_in_many_lines_says_nothing_of_any() {
        let mut lines = vec!["moor_at(7)"; 20];
        lines.push("Error: moor_at failed");
        assert!(!Reported::of(&lines).is_about(lines[0]));
        assert!(!Reported::of(&lines[..20]).is_about(lines[0]));
    }
}
