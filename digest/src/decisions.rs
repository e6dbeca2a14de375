//! Decisions and findings of the model, with reasons, in its own words.

use std::collections::VecDeque;

use super::sentences::{beginning, each_sentence_until};
use super::text;

/// Most bytes of a sentence, and most sentences of one text.
const LIMIT: usize = 320;
const SENTENCES: usize = 4;

/// Most sentences of what a model thought before one message.
const THOUGHTS: usize = 2;

/// Words with which a sentence states a reason or a finding. A space at either end marks the end of a word.
const SIGNS: [&str; 20] = [
    "because",
    " so that ",
    "instead of",
    "rather than",
    "decided",
    "decision",
    " chose ",
    "root cause",
    "turns out",
    "the reason ",
    "the problem is",
    "the issue is",
    "the cause ",
    "therefore",
    " due to ",
    "trade-off",
    "found that",
    "it seems that",
    "this means",
    "which means",
];

/// Returns the sentences of a model's text that state a reason or a finding. Fenced code contains no
/// sentences.
pub(super) fn lines(text: &str, stop: &dyn Fn() -> bool) -> Vec<String> {
    let mut found = Vec::new();
    each(text, stop, &mut |sentence| {
        if found.len() < SENTENCES {
            found.push(text::line(sentence, LIMIT));
        }
    });
    found
}

/// Does the same for what a model thought: what it came to stands at the end.
pub(super) fn last_lines(text: &str, stop: &dyn Fn() -> bool) -> Vec<String> {
    let mut found = VecDeque::new();
    each(text, stop, &mut |sentence| {
        if found.len() == THOUGHTS {
            found.pop_front();
        }
        found.push_back(text::line(sentence, LIMIT));
    });
    found.into()
}

fn each(text: &str, stop: &dyn Fn() -> bool, emit: &mut dyn FnMut(&str)) {
    for prose in text.split(text::FENCE).step_by(2) {
        each_sentence_until(stop, prose, &mut |sentence| {
            let is_one = sentence.len() > 20 && !sentence.ends_with(':');
            if is_one && says_why(beginning(sentence)) {
                emit(sentence);
            }
        });
    }
}

/// Whether a sentence states a reason or a finding.
pub(super) fn says_why(sentence: &str) -> bool {
    let begins = |first| matches!(first, b'b' | b' ' | b'i' | b'r' | b'd' | b't' | b'f' | b'w');
    has_sign(sentence, &SIGNS, begins)
}

/// Whether a text has one of these signs, in any case. `begins` says whether one of them begins with a letter.
pub(super) fn has_sign(text: &str, signs: &[&str], begins: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| {
        // Skips most letters, which begin none of them.
        begins(bytes[at] | 0x20)
            && signs.iter().any(|sign| {
                bytes
                    .get(at..at + sign.len())
                    .is_some_and(|window| window.eq_ignore_ascii_case(sign.as_bytes()))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn only_sentences_with_a_reason_or_finding_are_returned() {
        let text = "I read the file. The sums are off Because the carry is lost in sum_lines.\n```\nlet because = 1; // nothing to see in here\n```\nIt turns out that vendor/ has a copy. Done.";
        assert_eq!(
            lines(text, &|| false),
            [
                "The sums are off Because the carry is lost in sum_lines.",
                "It turns out that vendor/ has a copy."
            ]
        );
        assert!(lines("", &|| false).is_empty());
        // What stands far behind all that is told of a sentence gives no reason for it.
        let far = |words: usize| format!("{}because.", "tide ".repeat(words));
        assert_eq!(lines(&far(300), &|| false).len(), 1);
        assert!(lines(&far(2_000), &|| false).is_empty());
    }
}
