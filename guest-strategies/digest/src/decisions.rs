//! Decisions and findings of the model, with reasons, in its own words.

use std::collections::VecDeque;

use super::sentences::{beginning, each_sentence};
use super::signs::Signs;
use super::text;

/// Most bytes of a sentence, and most sentences of one text.
const LIMIT: usize = 320;
const SENTENCES: usize = 4;

/// Most sentences of what a model thought before one message.
const THOUGHTS: usize = 2;

/// Most bytes of a sentence that is repeated before one that refers to it.
const ANTECEDENT: usize = 160;

/// Words with which a sentence states a reason or a finding. A space at either end marks the end of a word.
static SIGNS: Signs<20> = Signs::new([
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
]);

/// Returns the sentences of a model's text that state a reason or a finding. Fenced code contains no
/// sentences.
pub(super) fn lines(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each(text, &mut |sentence| {
        if found.len() < SENTENCES {
            found.push(text::line(sentence, LIMIT));
        }
    });
    found
}

/// Does the same for what a model thought: what it came to stands at the end.
pub(super) fn last_lines(text: &str) -> Vec<String> {
    let mut found = VecDeque::new();
    each(text, &mut |sentence| {
        if found.len() == THOUGHTS {
            found.pop_front();
        }
        found.push_back(text::line(sentence, LIMIT));
    });
    found.into()
}

fn each(text: &str, emit: &mut dyn FnMut(&str)) {
    for prose in text.split(text::FENCE).step_by(2) {
        // Most texts have none, and to find where sentences end takes far longer.
        if !says_why(&in_one_line(prose)) {
            continue;
        }
        let mut before = String::new();
        each_sentence(prose, &mut |sentence| {
            let is_one = sentence.len() > 20 && !sentence.ends_with(':');
            if is_one && says_why(beginning(sentence)) {
                match !before.is_empty() && refers_back(sentence) {
                    true => emit(&format!("{before} {sentence}")),
                    false => emit(sentence),
                }
            }
            before.clear();
            if sentence.len() <= ANTECEDENT {
                before.push_str(sentence);
            }
        });
    }
}

/// Whether a sentence says nothing without the one before it: `This works because it is there already.`
fn refers_back(sentence: &str) -> bool {
    let words = ["This ", "That ", "It ", "These ", "Those ", "They "];
    words.iter().any(|word| sentence.starts_with(word))
}

/// Returns a text with one space for each run of white space, as its sentences have.
fn in_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_ascii_whitespace() {
        line.push(' ');
        line.push_str(word);
    }
    line.push(' ');
    line
}

/// Whether a sentence states a reason or a finding.
pub(super) fn says_why(sentence: &str) -> bool {
    SIGNS.are_in(sentence)
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn only_sentences_with_a_reason_or_finding_are_returned() {
        let text = "I read the file. The sums are off Because the carry is lost in sum_lines.\n```\nlet because = 1; // nothing to see in here\n```\nIt turns out that vendor/ has a copy. Done.";
        assert_eq!(
            lines(text),
            [
                "The sums are off Because the carry is lost in sum_lines.",
                "It turns out that vendor/ has a copy."
            ]
        );
        assert!(lines("").is_empty());
        // What it is about stands before it.
        let text = "I put the gate behind the lock. This works because it opens last. It opens.";
        assert_eq!(
            lines(text),
            ["I put the gate behind the lock. This works because it opens last."]
        );
        // What stands far behind all that is told of a sentence gives no reason for it.
        let far = |words: usize| format!("{}because.", "tide ".repeat(words));
        assert_eq!(lines(&far(300)).len(), 1);
        assert!(lines(&far(2_000)).is_empty());
    }
}
