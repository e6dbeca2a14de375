//! Where the rules of a user's text are in it.

use std::ops::Range;

use super::{Strength, is_same, strength, words};
use crate::sentences::each_sentence;

/// Returns where the sentences with a rule (they say never, always, must, do not, only, or the like), or about how the work is
/// to be handed in, are in a text of the user's, in order. A sentence that is repeated before parts of a long list is found once.
#[must_use]
pub fn rules_in(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    each_sentence(text, &mut |sentence| {
        if (strength(sentence) == Some(Strength::Rule) || tells_how_to_hand_in(sentence))
            && let Some(place) = place_of(sentence, text, from)
        {
            from = place.end;
            found.push(place);
        }
    });
    found
}

/// Whether a sentence says what to do once the work is done: `When you're satisfied, run the submit command.`
fn tells_how_to_hand_in(sentence: &str) -> bool {
    const STARTS: [&str; 4] = ["when you", "once you", "after you", "if you"];
    const ENDS: [&str; 6] = [
        "submit",
        "finished",
        "completed",
        "complete",
        "satisfied",
        "done",
    ];
    let begins = STARTS.iter().any(|start| {
        let head = sentence.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start))
            && !sentence[start.len()..].starts_with(char::is_alphanumeric)
    });
    begins && words(sentence).any(|word| ENDS.iter().any(|end| is_same(end, word)))
}

/// Returns where a sentence is in a text, from `from` on: word by word, whatever the white space between them.
fn place_of(sentence: &str, text: &str, from: usize) -> Option<Range<usize>> {
    let first = sentence.split_whitespace().next()?;
    text[from..].match_indices(first).find_map(|(at, _)| {
        let start = from + at;
        end_of(sentence, text, start).map(|end| start..end)
    })
}

/// Returns where a sentence ends that begins at `start`, `None` if another one is there.
fn end_of(sentence: &str, text: &str, start: usize) -> Option<usize> {
    let mut at = start;
    for (index, word) in sentence.split_whitespace().enumerate() {
        let rest = &text[at..];
        let own = if index == 0 { rest } else { rest.trim_start() };
        let is_next = index == 0 || own.len() < rest.len();
        at += rest.len() - own.strip_prefix(word).filter(|_| is_next)?.len();
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_the_work_is_handed_in_is_found() {
        let text = "Mend the lock.\nWhen you're satisfied with it, ring the bell.\nIf your watch is done, run.\n";
        let found: Vec<&str> = rules_in(text).into_iter().map(|at| &text[at]).collect();
        assert_eq!(found, ["When you're satisfied with it, ring the bell."]);
    }

    #[test]
    fn rules_are_found_across_line_breaks_and_within_paragraphs() {
        let text = "Sound the harbour first. Never trust\n  the old chart. Then go home.\n\n- Always moor at berth 7.\n- Rest.\n決して夜に出航しないでください。\n";
        let found: Vec<&str> = rules_in(text).into_iter().map(|at| &text[at]).collect();
        assert_eq!(
            found[..2],
            ["Never trust\n  the old chart.", "Always moor at berth 7."]
        );
        assert!(found.iter().all(|rule| !rule.contains("Rest")), "{found:?}");
    }

    #[test]
    fn text_without_rules_has_none() {
        assert!(rules_in("The tide turns at noon.").is_empty());
        assert!(rules_in("").is_empty());
    }
}
