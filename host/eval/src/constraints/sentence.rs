//! Sentences that constrain an agent's work, chosen by a hash.

use super::ConstraintKind;
use super::wording;
use crate::message::Message;

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
        let kind = choices.below(ConstraintKind::ALL.len());
        let wording = wording::ALL[choices.below(wording::ALL.len())];
        let absolute = choices.below(2) == 1;
        let sentences = &wording.sentences[kind];
        let sentences = match absolute {
            true => &sentences.absolute,
            false => &sentences.plain,
        };
        let sentence = sentences[choices.below(sentences.len())];
        let name = NAMES[choices.below(NAMES.len())];
        let name = format!("{name}-{}", 10 + choices.below(90));
        Self {
            kind: ConstraintKind::ALL[kind],
            absolute,
            language: wording.language,
            sentence: sentence.replace("{name}", &name),
        }
    }

    /// Whether a part of these messages has the sentence, word for word.
    pub(super) fn is_in<'m>(&self, messages: impl IntoIterator<Item = &'m Message>) -> bool {
        let mut parts = messages.into_iter().flat_map(|message| &message.parts);
        parts.any(|part| part.text.contains(&self.sentence))
    }
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
        assert_eq!(seen.len(), 5 * wording::ALL.len() * 2);
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
