//! Recognises what matters in a conversation without tools: what the user states, as opposed to small talk.
//!
//! A logistic regression estimates the probability that a message states something, from its words, its form and
//! the words that it shares with other messages. The weights ([`SIGNS`]) were fitted
//! on generated chats (`tests/generated/wording/development`), and measured on others whose wording was written
//! independently.

mod words;

use std::collections::{BTreeMap, BTreeSet};

use super::rules;
use super::sentences::each_sentence;
use words::{
    ASKING, ASKING_UNSPACED, CORRECTING, CORRECTING_UNSPACED, NEGATING, NEGATING_UNSPACED, OWN,
    OWN_UNSPACED, TALK, TALK_UNSPACED, TELLING, TELLING_UNSPACED,
};

/// Most bytes of a message that is kept or left out as a whole. Its sentences often refer to each other.
pub(super) const WHOLE: usize = 400;

/// Number of signs.
const NUMBER: usize = 18;

/// Weight of each sign, in the order of [`Talk::signs`].
const SIGNS: [f64; NUMBER] = [
    2.0, 1.0, 0.7, 0.6, 1.5, 0.5, 1.3, -1.1, -1.3, -0.9, -2.1, -0.1, 3.2, 1.3, 0.6, 0.8, 0.5, 1.7,
];

/// What all signs together are compared with.
const BASE: f64 = -3.7;

/// Length from which on a message is long, in characters of a script with spaces.
const LONG: f64 = 150.0;

/// How many times more a character says in a script without spaces.
const UNSPACED: f64 = 2.5;

/// Letters by which a word is compared with others: endings differ.
const STEM: usize = 5;

/// Fewest letters of a word that is about something.
const FEWEST_LETTERS: usize = 4;

/// A word in more than this share of the messages is about nothing.
const COMMON: f64 = 0.25;

/// Fewest words that a correction shares with what it corrects, how many statements before it are looked at, and the
/// most statements that are looked at: each is compared with those before it.
const SHARED: usize = 2;
const BEFORE_IT: usize = 100;
const COMPARED: usize = 3_000;

/// Most different words that are remembered.
const WORDS: usize = 50_000;

/// The user's messages of a conversation.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// In how many different messages a word is.
    messages: BTreeMap<String, usize>,
    number: usize,
}

impl Talk {
    pub(super) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        // Repeating a text word for word does not make its words more important.
        let distinct: BTreeSet<&str> = texts.collect();
        let mut talk = Self {
            messages: BTreeMap::new(),
            number: distinct.len(),
        };
        for text in distinct {
            for word in words_of(text) {
                // Beyond the limit only known words are counted: a word takes many times its bytes.
                if let Some(messages) = talk.messages.get_mut(&word) {
                    *messages += 1;
                } else if talk.messages.len() < WORDS {
                    talk.messages.insert(word, 1);
                }
            }
        }
        talk
    }

    /// Returns the probability that a text of the user states something that matters later.
    pub(super) fn score(&self, text: &str) -> f64 {
        let sum: f64 = self
            .signs(text)
            .iter()
            .zip(SIGNS)
            .map(|(sign, weight)| sign * weight)
            .sum();
        1.0 / (1.0 + (-(BASE + sum)).exp())
    }

    /// Returns for each statement, in their order, whether a later one corrects it: one with a word for a
    /// correction that shares most words with it, and enough.
    pub(super) fn corrected(&self, statements: &[&str]) -> Vec<bool> {
        let oldest = statements.len().saturating_sub(COMPARED);
        let newest = &statements[oldest..];
        let words: Vec<BTreeSet<String>> =
            newest.iter().map(|text| self.telling_words(text)).collect();
        let mut corrected = vec![false; statements.len()];
        for (later, text) in newest.iter().enumerate() {
            if !Text::of(text).has(CORRECTING, CORRECTING_UNSPACED) {
                continue;
            }
            let shared = |earlier: usize| words[earlier].intersection(&words[later]).count();
            let earlier = later.saturating_sub(BEFORE_IT)..later;
            let best = earlier.max_by_key(|earlier| (shared(*earlier), *earlier));
            if let Some(best) = best.filter(|best| shared(*best) >= SHARED) {
                corrected[oldest + best] = true;
            }
        }
        corrected
    }

    /// Returns the most messages that can have a word which is about something.
    fn most_messages(&self) -> usize {
        (self.number as f64 * COMMON).max(2.0) as usize
    }

    /// Returns the words of a text that are not common.
    fn telling_words(&self, text: &str) -> BTreeSet<String> {
        let most = self.most_messages();
        let mut words = words_of(text);
        words.retain(|word| {
            self.messages
                .get(word)
                .is_none_or(|messages| *messages <= most)
        });
        words
    }

    /// Returns the signs of a text, each from 0 to 1.
    fn signs(&self, text: &str) -> [f64; NUMBER] {
        let text = &Text::of(text);
        let (mut sentences, mut questions, mut has_rule) = (0, 0, false);
        each_sentence(text.text, &mut |sentence| {
            sentences += 1;
            questions += usize::from(sentence.trim_end().ends_with(['?', '？']));
            has_rule |= rules::is_rule(sentence);
        });
        let length =
            text.text.chars().count() as f64 * if text.is_unspaced { UNSPACED } else { 1.0 };
        let has = |is: bool| f64::from(u8::from(is));
        [
            has(text.text.bytes().any(|byte| byte.is_ascii_digit())
                || text.text.chars().any(|c| ('０'..='９').contains(&c))),
            has(text.has_spelled_number()),
            has(has_rule),
            has(text.has(OWN, OWN_UNSPACED)),
            has(text.has(TELLING, TELLING_UNSPACED)),
            has(text.has_name()),
            has(text.has_label()),
            has(questions == sentences),
            has(questions > 0),
            has(text.text.contains(['!', '！'])),
            has(text.begins_with_talk()),
            has(length < 30.0),
            (length / LONG).min(1.0),
            has(sentences > 1),
            has(text.has(ASKING, ASKING_UNSPACED)),
            has(text.has(NEGATING, NEGATING_UNSPACED)),
            has(text.text.contains([',', '，', '、'])),
            (self.shared_words(text.text) as f64 / 3.0).min(1.0),
        ]
    }

    /// Returns how many words of a text are in other messages as well, and not in most.
    fn shared_words(&self, text: &str) -> usize {
        let most = self.most_messages();
        let words = words_of(text);
        let shared = words.iter().filter(|word| {
            let messages = self.messages.get(*word).copied().unwrap_or(0);
            messages > 1 && messages <= most
        });
        shared.count()
    }
}

/// Returns the words of a text by which it can be about the same as another: the beginnings of longer words, or
/// pairs of characters in scripts without spaces.
pub(super) fn words_of(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let lower: Vec<char> = word.to_lowercase().chars().collect();
        if lower.iter().copied().any(is_unspaced) {
            let pairs = lower
                .windows(2)
                .filter(|pair| pair.iter().any(|c| !is_hiragana(*c)));
            found.extend(pairs.map(|pair| pair.iter().collect::<String>()));
        } else if lower.len() >= FEWEST_LETTERS {
            found.insert(lower.iter().take(STEM).collect());
        }
    }
    found
}

/// Whether a character is of a script without spaces between words.
const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Whether a character mostly belongs to endings and particles.
const fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{309f}')
}

/// A text with its words.
struct Text<'t> {
    text: &'t str,
    lower: String,
    words: Vec<String>,
    is_unspaced: bool,
}

impl<'t> Text<'t> {
    fn of(text: &'t str) -> Self {
        let lower = text.to_lowercase();
        let words = lower
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'))
            .filter(|word| !word.is_empty())
            .map(|word| word.replace('’', "'"))
            .collect();
        let letters = || text.chars().filter(|c| c.is_alphabetic());
        Self {
            is_unspaced: letters().filter(|c| is_unspaced(*c)).count() * 2 > letters().count(),
            text,
            lower,
            words,
        }
    }

    fn has(&self, spaced: &[&str], unspaced: &[&str]) -> bool {
        if self.is_unspaced {
            return unspaced.iter().any(|word| self.lower.contains(word));
        }
        spaced.iter().any(|known| match known.contains(' ') {
            true => self.lower.contains(known),
            false => self.words.iter().any(|word| word == known),
        })
    }

    fn begins_with_talk(&self) -> bool {
        match self.is_unspaced {
            true => TALK_UNSPACED
                .iter()
                .any(|talk| self.lower.starts_with(talk)),
            false => self
                .words
                .first()
                .is_some_and(|first| TALK.contains(&first.as_str())),
        }
    }

    /// Whether a text in Chinese or Japanese contains a number written in words.
    fn has_spelled_number(&self) -> bool {
        let is_number = |c: &char| "一二三四五六七八九十百千万両两".contains(*c);
        let characters: Vec<char> = self.text.chars().collect();
        characters.windows(2).any(|pair| {
            is_number(&pair[0])
                && (is_number(&pair[1])
                    || "個人日月年時点分円枚本回号名元块岁天周页字度层间条次".contains(pair[1]))
        })
    }

    /// Whether a word within a sentence begins with a capital letter, in a language in which few do.
    fn has_name(&self) -> bool {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let capitals = words.windows(2).filter(|pair| {
            !pair[0].ends_with(['.', '!', '?', ':'])
                && pair[1].chars().count() > 1
                && pair[1].starts_with(char::is_uppercase)
        });
        let number = capitals.count();
        number > 0 && number * 6 <= words.len()
    }

    /// Whether a text begins with a label, as `Budget: 300`.
    fn has_label(&self) -> bool {
        self.text
            .split_once([':', '：'])
            .is_some_and(|(label, rest)| {
                let words = label.split_whitespace().count();
                (1..=3).contains(&words)
                    && label.len() <= 40
                    && !rest.starts_with("//")
                    && !rest.trim().is_empty()
            })
    }
}
