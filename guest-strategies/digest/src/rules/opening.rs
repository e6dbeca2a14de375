//! Classifies sentences by how they begin.

use super::words::{CHANGES, CONTRASTS, FILLERS, LANGUAGES, NAMES, PAIRS, TURNS};
use super::{is_same, lowered, matches_phrase, words};

/// Most filler words that are skipped at the beginning of a sentence.
const MOST_FILLERS: usize = 6;

/// Whether a sentence withdraws a request or a rule, or sets another goal.
pub(super) fn changes(sentence: &str) -> bool {
    opening(sentence).is_some_and(|(first, rest)| {
        let first = &*lowered(first);
        CHANGES
            .iter()
            .any(|phrase| matches_phrase(phrase, first, &rest))
            || starts(sentence)
    })
}

/// Whether a sentence begins as an order without a word of a rule, or asks for something else than before. It
/// may also describe what happened.
pub(super) fn asks(sentence: &str) -> bool {
    let Some((first, rest)) = opening(sentence) else {
        return false;
    };
    let first = &*lowered(first);
    let holds = |wanted: &str| rest.clone().any(|word| is_same(wanted, word));
    let is_named = |phrase: &[&str]| {
        let name = rest.clone().nth(phrase.len() - 1);
        name.is_some_and(|name| {
            name.starts_with(char::is_uppercase) || NAMES.iter().any(|known| is_same(known, name))
        })
    };
    let stops = || {
        let second = rest.clone().next();
        is_same("stop", first) && second.is_some_and(|word| word.ends_with("ing"))
    };
    let contrasts = |verbs: &[&str], between: &[&str]| {
        verbs.iter().any(|verb| is_same(verb, first))
            && (sentence.contains(", not ") || between.iter().any(|word| holds(word)))
    };
    TURNS
        .iter()
        .any(|phrase| matches_phrase(phrase, first, &rest))
        || stops()
        || is_same("أجب", first)
        || LANGUAGES
            .iter()
            .any(|phrase| matches_phrase(phrase, first, &rest) && is_named(phrase))
        || PAIRS
            .iter()
            .any(|(begin, further)| is_same(begin, first) && holds(further))
        || CONTRASTS
            .iter()
            .any(|(verbs, between)| contrasts(verbs, between))
}

/// Whether [`changes`] applies in scripts without spaces between words.
fn starts(sentence: &str) -> bool {
    const STARTS: [&str; 5] = ["新目标", "新的目标", "计划有变", "新しい目標", "새 목표"];
    !sentence.is_ascii() && STARTS.iter().any(|start| sentence.starts_with(start))
}

/// Returns the first word of a sentence that is no filler, and the words after it.
fn opening(sentence: &str) -> Option<(&str, impl Iterator<Item = &str> + Clone)> {
    let mut rest = words(sentence);
    for _ in 0..=MOST_FILLERS {
        let word = rest.next()?;
        if !FILLERS.iter().any(|filler| is_same(filler, word)) {
            return Some((word, rest));
        }
    }
    None
}
