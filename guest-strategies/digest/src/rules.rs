//! Finds the sentences of the user that are rules: where a long text of the user has to be shortened, they stay.

mod words;

use std::ops::Range;

use crate::sentences;
use words::{RULES, UNSPACED};

/// Most bytes of a sentence that are looked at.
const LOOKED_AT: usize = 4 << 10;

/// Returns where the sentences with a rule are in a text of the user's, in order: they say never, always, must, do not, only, or
/// the like, and are neither questions nor about the speakers alone.
#[must_use]
pub fn rules_in(text: &str) -> Vec<Range<usize>> {
    let mut found = sentences::of(text);
    found.retain(|place| is_rule(&text[place.clone()]));
    found
}

/// Whether a sentence is a rule by its words.
pub(super) fn is_rule(sentence: &str) -> bool {
    let sentence = &sentence[..sentence.floor_char_boundary(LOOKED_AT)];
    if sentence.trim_end().ends_with(['?', '？', '؟']) {
        return false;
    }
    let lower = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> = words_of(&lower).collect();
    let is_own = words
        .first()
        .is_some_and(|first| matches!(*first, "i" | "i'm" | "i've"));
    if is_own && !words.iter().any(|word| matches!(*word, "you" | "your")) {
        return false;
    }
    let has = |phrase: &&[&str]| words.windows(phrase.len()).any(|own| own == *phrase);
    RULES.iter().any(has) || !lower.is_ascii() && UNSPACED.iter().any(|word| lower.contains(word))
}

/// Returns the words of a text, which marks of letters belong to.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c| matches!(c, '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{652}');
    text.split(move |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '\'') || is_mark(c)))
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_with_a_rule_are_found_where_they_are() {
        let text = "Sound the harbour first. Never trust\n  the old chart. Then go home.\n\n- Always moor at berth 7.\n- Rest.\n決して夜に出航しないでください。\nMust I go? I never saw it.";
        let found: Vec<&str> = rules_in(text).into_iter().map(|at| &text[at]).collect();
        assert_eq!(
            found,
            [
                "Never trust\n  the old chart.",
                "Always moor at berth 7.",
                "決して夜に出航しないでください。"
            ]
        );
        assert!(rules_in("The tide turns at noon.").is_empty());
        assert!(rules_in("").is_empty());
    }

    #[test]
    fn rules_are_known_in_several_languages() {
        for rule in [
            "DON'T touch main.",
            "You can’t use berth 9",
            "Bitte nicht auf Papier.",
            "Solo en español, nunca en inglés.",
            "Il ne faut jamais fermer l'écluse.",
            "请勿删除日志",
        ] {
            assert!(is_rule(rule), "{rule}");
        }
    }
}
