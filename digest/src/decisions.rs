//! What the model decided or found out, and why, in its own words.

use super::sentences::{beginning, each_sentence_until};
use super::text;

/// The most bytes of a sentence that is told, and sentences of one text.
const LIMIT: usize = 320;
const SENTENCES: usize = 4;

/// Words by which a sentence gives a reason or a finding. A blank at an end stands for the end of
/// a word.
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

/// The sentences of a model's text that give a reason or a finding. What is fenced as code is
/// no sentence.
pub(super) fn lines(text: &str, stop: &dyn Fn() -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for prose in text.split("```").step_by(2) {
        each_sentence_until(stop, prose, &mut |sentence| {
            let is_left = found.len() < SENTENCES && sentence.len() > 20;
            if is_left && !sentence.ends_with(':') && says_why(beginning(sentence)) {
                found.push(text::line(sentence, LIMIT));
            }
        });
    }
    found
}

fn says_why(sentence: &str) -> bool {
    let bytes = sentence.as_bytes();
    (0..bytes.len()).any(|at| {
        let first = bytes[at] | 0x20;
        // Most letters begin none of them.
        matches!(first, b'b' | b' ' | b'i' | b'r' | b'd' | b't' | b'f' | b'w')
            && SIGNS.iter().any(|sign| {
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
    fn reasons_and_findings_are_told_and_other_sentences_are_not() {
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
