//! Sentences that constrain an agent's work, chosen by a hash.

use super::ConstraintKind;
use crate::message::Message;

/// All sentences, one on each line, behind its language, its kind, and whether it is `plain` or `absolute`. `{name}` stands
/// for a name.
const WORDING: &str = include_str!("wording.txt");

/// The languages of the sentences, as codes of ISO 639-1.
const LANGUAGES: [&str; 5] = ["en", "de", "es", "ja", "ar"];

/// What sentences are about.
const NAMES: [&str; 8] = [
    "harbour", "orchard", "lantern", "meadow", "anvil", "heron", "saffron", "tundra",
];

/// A sentence of the user, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Constraint {
    pub(super) kind: ConstraintKind,
    /// Whether it has a word such as *never* or *always*.
    pub(super) absolute: bool,
    pub(super) language: &'static str,
    pub(super) sentence: String,
}

impl Constraint {
    /// Returns the constraint of a conversation with this content hash.
    pub(super) fn of(content_hash: &str) -> Self {
        let digits = content_hash.trim_start_matches("sha256:");
        let digits = digits.get(..16).unwrap_or(digits);
        let mut choices = Choices(u64::from_str_radix(digits, 16).unwrap_or_default());
        let kind = ConstraintKind::ALL[choices.below(ConstraintKind::ALL.len())];
        let language = LANGUAGES[choices.below(LANGUAGES.len())];
        let absolute = choices.below(2) == 1;
        let sentences = sentences(language, kind, absolute);
        let sentence = sentences[choices.below(sentences.len())];
        let name = NAMES[choices.below(NAMES.len())];
        let name = format!("{name}-{}", 10 + choices.below(90));
        Self {
            kind,
            absolute,
            language,
            sentence: sentence.replace("{name}", &name),
        }
    }

    /// Whether a part of these messages has the sentence, word for word.
    pub(super) fn is_in<'m>(&self, messages: impl IntoIterator<Item = &'m Message>) -> bool {
        let mut parts = messages.into_iter().flat_map(|message| &message.parts);
        parts.any(|part| part.text.contains(&self.sentence))
    }
}

/// Returns the sentences of this language and kind that have a word such as *never*, or those that have none.
fn sentences(language: &str, kind: ConstraintKind, absolute: bool) -> Vec<&'static str> {
    let words = if absolute { "absolute" } else { "plain" };
    let before = format!("{language} {} {words} ", kind.name());
    let lines = WORDING.lines();
    lines
        .filter_map(|line| line.strip_prefix(&before))
        .collect()
}

/// Choices that a number makes, each independent of the others.
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let chosen = self.0 % bound;
        self.0 /= bound;
        chosen as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn hash(number: u64) -> String {
        // Spreads small numbers, as a hash does.
        let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("sha256:{spread:016x}{number:016x}")
    }

    #[test]
    fn a_hash_always_gives_the_same_sentence_and_hashes_together_give_all_kinds() {
        let mut seen = BTreeSet::new();
        for number in 0..2_000 {
            let one = Constraint::of(&hash(number));
            assert_eq!(one, Constraint::of(&hash(number)));
            assert!(!one.sentence.contains('{'), "{}", one.sentence);
            seen.insert((format!("{:?}", one.kind), one.language, one.absolute));
        }
        assert_eq!(seen.len(), 5 * LANGUAGES.len() * 2);
    }

    /// Words such as *never*, *always*, *must* and *only*, in lower case.
    fn absolute_words(language: &str) -> &'static [&'static str] {
        match language {
            "en" => &["never", "always", "must", "only", "do not", "don't"],
            "de" => &["nie", "niemals", "immer", "muss", "nur", "auf keinen fall"],
            "es" => &["nunca", "jamás", "siempre", "debes", "solo"],
            "ja" => &["決して", "絶対", "必ず", "常に", "だけ"],
            "ar" => &["أبد", "دائم", "يجب", "فقط"],
            _ => &[],
        }
    }

    fn has_absolute_word(language: &str, sentence: &str) -> bool {
        let lower = sentence.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .filter(|word| !word.is_empty())
            .collect();
        let spaced = format!(" {} ", words.join(" "));
        absolute_words(language).iter().any(|word| match language {
            // Words are not parted, or have endings.
            "ja" | "ar" => lower.contains(word),
            _ => spaced.contains(&format!(" {word} ")),
        })
    }

    #[test]
    fn only_absolute_sentences_have_words_such_as_never() {
        for language in LANGUAGES {
            for kind in ConstraintKind::ALL {
                for absolute in [true, false] {
                    for sentence in sentences(language, kind, absolute) {
                        let has_word = has_absolute_word(language, sentence);
                        assert_eq!(has_word, absolute, "{sentence}");
                    }
                }
            }
        }
    }

    #[test]
    fn three_sentences_of_each_sort_differ_and_have_an_end() {
        let mut seen = BTreeSet::new();
        for language in LANGUAGES {
            for kind in ConstraintKind::ALL {
                for absolute in [true, false] {
                    let sentences = sentences(language, kind, absolute);
                    assert_eq!(sentences.len(), 3, "{language} {kind:?} {absolute}");
                    for sentence in sentences {
                        assert!(sentence.ends_with(['.', '。']), "{sentence}");
                        assert!(seen.insert(sentence), "{sentence}");
                    }
                }
            }
        }
        // No line is of another sort.
        assert_eq!(seen.len(), WORDING.lines().count());
    }

    #[test]
    fn a_sentence_is_there_only_word_for_word() {
        let constraint = Constraint::of(&hash(7));
        let message = |text: &str| {
            let raw = serde_json::json!({"role": "user", "content": text}).to_string();
            [Message::read("openai-chat", &raw)]
        };
        let sentence = &constraint.sentence;
        assert!(constraint.is_in(&message(&format!("- the user: {sentence} And more."))));
        let mut shorter = sentence.clone();
        shorter.pop();
        assert!(!constraint.is_in(&message(&shorter)));
    }
}
