//! Divides a text into sentences.

use std::ops::Range;

use crate::text::FENCE;

/// Most bytes of a sentence of several lines. Longer runs of lines without a full stop are not prose, and each line counts as
/// a sentence.
const MOST: usize = 2_000;

/// Returns where the sentences of a text are, in order. A heading, an item of a list and a paragraph end the sentence before
/// them; text between fences and quoted lines are left out. The white space around a sentence and the mark of its item are not part
/// of it.
pub(super) fn of(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut paragraph: Option<Range<usize>> = None;
    let mut is_fenced = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at + (line.len() - line.trim_start().len());
        let end = at + line.trim_end().len();
        at += line.len();
        let bare = line.trim();
        let is_fence = bare.starts_with(FENCE) || bare.starts_with("~~~");
        is_fenced ^= is_fence;
        let is_passed_over = is_fence || is_fenced || bare.starts_with('>');
        let item = length_of_mark(bare);
        let begins = item > 0 || bare.is_empty() || is_passed_over;
        if begins && let Some(whole) = paragraph.take() {
            split(text, whole, &mut found);
        }
        if is_passed_over || bare.is_empty() {
            continue;
        }
        let begun = paragraph.take().map_or(start + item, |whole| whole.start);
        let whole = begun..end;
        // A heading ends with its line.
        if bare.starts_with('#') {
            split(text, whole, &mut found);
        } else if whole.len() > MOST {
            split(text, whole, &mut found);
            // What is not ended goes on.
            paragraph =
                found.pop_if(|last| last.len() <= MOST && !text[..last.end].ends_with(is_sign));
        } else {
            paragraph = Some(whole);
        }
    }
    if let Some(whole) = paragraph {
        split(text, whole, &mut found);
    }
    found
}

/// Passes the sentences of a text to `emit` one after the other, each on one line.
pub fn each_sentence(text: &str, emit: &mut dyn FnMut(&str)) {
    for place in of(text) {
        emit(
            &text[place]
                .split_whitespace()
                .collect::<Vec<&str>>()
                .join(" "),
        );
    }
}

fn is_sign(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '؟' | '。' | '｡' | '！' | '？')
}

/// Returns the bytes of the mark with which a line begins an item of a list or a heading; 0 if it has none.
fn length_of_mark(bare: &str) -> usize {
    let rest = bare.trim_start_matches(['-', '*', '•', '#', '+']);
    let number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = match number.strip_prefix(['.', ')']) {
        Some(behind) if number.len() < bare.len() => behind,
        _ => rest,
    };
    let is_mark = behind.len() < bare.len() && behind.starts_with(' ');
    match is_mark {
        true => bare.len() - behind.trim_start().len(),
        false => 0,
    }
}

/// Adds the sentences of a paragraph.
fn split(text: &str, paragraph: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut start = paragraph.start;
    let mut add = |start: usize, end: usize| {
        let own = &text[start..end];
        let from = start + (own.len() - own.trim_start().len());
        let to = start + own.trim_end().len();
        if from < to {
            found.push(from..to);
        }
    };
    for (at, sign) in text[paragraph.clone()].char_indices() {
        let end = paragraph.start + at + sign.len_utf8();
        if is_end(sign, &text[paragraph.start..end], &text[end..paragraph.end]) {
            add(start, end);
            start = end;
        }
    }
    add(start, paragraph.end);
}

/// Words that are written with a dot before a name.
const TITLES: [&str; 6] = ["Dr", "Mr", "Mrs", "Ms", "St", "Nr"];

/// German words before a day of a month, which is written with a dot.
const BEFORE_DAY: [&str; 7] = ["Am", "am", "den", "der", "zum", "vom", "bis"];

/// Whether a sign ends a sentence, which `before` has at its end and `behind` follows. A dot within a name or a number ends none,
/// and neither does that of an abbreviation or an ordinal, after which the sentence goes on in small letters or with a name.
fn is_end(sign: char, before: &str, behind: &str) -> bool {
    match sign {
        '。' | '｡' | '！' | '？' => true,
        '!' | '?' | '؟' => behind.is_empty() || behind.starts_with(char::is_whitespace),
        '.' => {
            let is_apart = behind.is_empty() || behind.starts_with(char::is_whitespace);
            let word = before
                .rsplit(char::is_whitespace)
                .next()
                .unwrap_or_default();
            let before_word = before[..before.len() - word.len()].trim_end();
            let last = before_word.rsplit(char::is_whitespace).next();
            let bare = &word[..word.len() - 1];
            let is_day = last.is_some_and(|last| BEFORE_DAY.contains(&last))
                && bare.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day));
            let is_short = TITLES.contains(&bare) || bare.contains('.') && bare.len() < 6;
            let goes_on = behind.trim_start().starts_with(char::is_lowercase);
            is_apart && !goes_on && (behind.trim().is_empty() || !(is_short || is_day))
        }
        _ => false,
    }
}

/// Returns where the last sentence ends within the first `limit` bytes; `None` if none does.
pub(super) fn last_end(text: &str, limit: usize) -> Option<usize> {
    let ends = of(text).into_iter().map(|place| place.end);
    ends.take_while(|end| *end <= limit).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_sentence(text, &mut |sentence| found.push(sentence.to_owned()));
        found
    }

    #[test]
    fn sentences_end_at_their_signs_whatever_the_line_breaks() {
        assert_eq!(
            sentences(
                "Moor at\n  berth 7. It is v1.2.3, e.g. the new one! Is it free? 夜は出ない。昼に出る。"
            ),
            [
                "Moor at berth 7.",
                "It is v1.2.3, e.g. the new one!",
                "Is it free?",
                "夜は出ない。",
                "昼に出る。"
            ]
        );
        assert_eq!(
            sentences("Am 24. Dezember ist zu. Dr. Ilse Brandt weiß es"),
            ["Am 24. Dezember ist zu.", "Dr. Ilse Brandt weiß es"]
        );
    }

    #[test]
    fn headings_items_and_paragraphs_are_apart_and_code_and_quotations_left_out() {
        assert_eq!(
            sentences(
                "# Plan\nFirst this\n\n- never that\n2. then go\n> quoted\n```\nlet a = 1.\n```\nEnd"
            ),
            ["Plan", "First this", "never that", "then go", "End"]
        );
        assert!(sentences(" \n\n").is_empty());
    }

    #[test]
    fn last_end_is_that_of_a_whole_sentence() {
        let text = "One two. Three four. Five";
        assert_eq!(last_end(text, 21), Some(20));
        assert_eq!(last_end(text, 19), Some(8));
        assert_eq!(last_end(text, 5), None);
    }
}
