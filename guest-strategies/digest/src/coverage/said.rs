//! What has been said: whole texts, and words.

use std::collections::{BTreeMap, BTreeSet};

use crate::candidates::Candidate;
use crate::section::Section;
use crate::sentences::each_sentence;
use crate::statements::words_of;

/// The texts and words of the entries that were chosen.
#[derive(Default)]
pub(super) struct Said {
    /// In the form of [`plain`].
    texts: BTreeSet<String>,
    words: Words,
}

impl Said {
    pub(super) fn has(&self, plain: &str) -> bool {
        !plain.is_empty() && self.texts.contains(plain)
    }

    /// Returns the numbers of an entry's words.
    pub(super) fn words_of(&mut self, candidate: &Candidate<'_>) -> Vec<usize> {
        self.words.of(candidate)
    }

    pub(super) fn say(&mut self, section: Section, plain: &str, words: &[usize]) {
        if !plain.is_empty() {
            self.texts.insert(plain.to_owned());
        }
        self.words.say(section, words);
    }

    /// Says the sentences of a text, so that none of them is quoted again.
    pub(super) fn say_sentences(&mut self, text: &str) {
        each_sentence(text, &mut |sentence| {
            self.texts.insert(plain(sentence));
        });
    }

    /// Returns from 0 to 1 how much of a text with these words is new. What the user asks is new until the user
    /// has said it, whatever others say.
    pub(super) fn novelty(&self, section: Section, words: &[usize]) -> f64 {
        let new = self.words.new_among(section, words);
        match words.len() {
            0 => 1.0,
            // Some words are always repeated.
            all => (2.0 * new as f64 / all as f64).min(1.0),
        }
    }
}

/// Words by their numbers, and which of them were said.
#[derive(Default)]
struct Words {
    numbers: BTreeMap<String, usize>,
    said: Vec<By>,
}

/// Who has said a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Nobody,
    Others,
    User,
}

impl By {
    const fn of(section: Section) -> Self {
        match section {
            Section::Requests | Section::Told => Self::User,
            _ => Self::Others,
        }
    }
}

impl Words {
    /// Returns the words of an entry whose text somebody or something wrote. Other entries consist of the same few words.
    fn of(&mut self, candidate: &Candidate<'_>) -> Vec<usize> {
        match candidate.section {
            Section::Requests
            | Section::Told
            | Section::Said
            | Section::Reports
            | Section::Errors
            | Section::Earlier => {}
            _ => return Vec::new(),
        }
        let words = words_of(&candidate.text).into_iter();
        words
            .map(|word| {
                let next = self.said.len();
                let number = *self.numbers.entry(word).or_insert(next);
                if number == next {
                    self.said.push(By::Nobody);
                }
                number
            })
            .collect()
    }

    fn say(&mut self, section: Section, words: &[usize]) {
        for word in words {
            self.said[*word] = self.said[*word].max(By::of(section));
        }
    }

    fn new_among(&self, section: Section, words: &[usize]) -> usize {
        let by = By::of(section);
        words.iter().filter(|word| self.said[**word] < by).count()
    }
}

/// Returns a text in lower case with one space for each run of white space, to recognise a text that is there already.
/// Signs stay: `1.5` is not `15`, and `C++` is not `C#`.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !plain.is_empty() {
            plain.push(' ');
        }
        match word.is_ascii() {
            true => {
                plain.push_str(word);
                let start = plain.len() - word.len();
                plain[start..].make_ascii_lowercase();
            }
            false => plain.push_str(&word.to_lowercase()),
        }
    }
    plain
}
