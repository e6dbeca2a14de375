//! Finds what a user pasted into a message: blocks of code, logs, tables and the like.
//!
//! The user's own sentences matter more than what they are about. A paste is recognised by its form alone, since it may be in
//! any language: between fences, or several lines in a row that consist of more than letters and spaces.

use std::ops::Range;

use crate::text::FENCE;

/// The fewest lines in a row, blank ones aside, that are not prose and count as a paste. Fewer may be a list of values that the
/// user typed.
const LINES: usize = 4;

/// The fewest bytes of a single line that counts as a paste if it is not prose: minified code, encoded data.
const LONG_LINE: usize = 1_000;

/// Percent of the characters of prose that are at least letters or spaces. Lines of logs and code have fewer.
const LETTERS: usize = 78;

/// Returns the parts of a user's text that were pasted, in order. Each part consists of whole lines.
#[must_use]
pub fn pastes_in(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut blocks = fenced(text).into_iter().peekable();
    let mut run = Run::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let place = start..start + line.len();
        start = place.end;
        if let Some(block) = blocks.peek().filter(|block| block.start <= place.start) {
            if block.start == place.start {
                run.end(&mut found);
            }
            if place.end == block.end {
                found.extend(blocks.next());
            }
        } else if !line.trim().is_empty() {
            match is_prose(line) {
                true => run.end(&mut found),
                false => run.add(place),
            }
        }
    }
    run.end(&mut found);
    found
}

/// Returns the blocks between fences. A fence is closed by one of at least its length with nothing after it. A fence that
/// nothing closes does not count: a log may have such a line, and the text after it may be the user's own.
fn fenced(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    // Where the block that is open begins, and the length of its fence.
    let mut open: Option<(usize, usize)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let said = line.trim();
        let length = said.len() - said.trim_start_matches('`').len();
        if length >= FENCE.len() {
            let closes = said.len() == length;
            match open {
                Some((from, opened)) if closes && length >= opened => {
                    blocks.push(from..end);
                    open = None;
                }
                Some(_) => {}
                None => open = Some((start, length)),
            }
        }
        start = end;
    }
    blocks
}

/// Lines in a row that are not prose.
#[derive(Default)]
struct Run {
    place: Option<Range<usize>>,
    lines: usize,
    has_long_line: bool,
}

impl Run {
    fn add(&mut self, line: Range<usize>) {
        self.lines += 1;
        self.has_long_line |= line.len() >= LONG_LINE;
        let start = self.place.as_ref().map_or(line.start, |place| place.start);
        self.place = Some(start..line.end);
    }

    /// Ends the run, and adds it if it is long enough.
    fn end(&mut self, found: &mut Vec<Range<usize>>) {
        let Self {
            place,
            lines,
            has_long_line,
        } = std::mem::take(self);
        found.extend(place.filter(|_| lines >= LINES || has_long_line));
    }
}

/// Whether a line reads like a sentence: mostly letters and spaces, not indented like code.
fn is_prose(line: &str) -> bool {
    let said = line.trim();
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    let (mut letters, mut all) = (0, 0);
    for character in said.chars() {
        all += 1;
        letters += usize::from(character.is_alphabetic() || character == ' ');
    }
    !is_indented && letters * 100 >= all * LETTERS
}

#[cfg(test)]
mod tests {
    use super::pastes_in;

    fn pasted(text: &str) -> Vec<&str> {
        let places = pastes_in(text).into_iter();
        places.map(|place| &text[place]).collect()
    }

    #[test]
    fn blocks_between_fences_are_pasted_and_a_fence_that_nothing_closes_is_none() {
        let block = "````md\n```rust\nlet tide = 7;\n```\n````\n";
        let text = format!("Why does this fail?\n{block}Only mend the tide.\n```\nNever row.");
        assert_eq!(pasted(&text), [block]);
    }

    #[test]
    fn logs_and_code_without_fences_are_pasted_and_sentences_around_them_are_not() {
        let log = "10:00:01 INFO pier 7: depth=4.2 m\n10:00:02 WARN pier 8: depth=0.3 m\n\n10:00:03 INFO pier 9: depth=6.1 m\n10:00:04 INFO pier 10: depth=5.0 m\n";
        let code =
            "    fn tide(pier: u8) -> f32 {\n        DEPTHS[pier as usize]\n    }\n    // ebb\n";
        let text = format!(
            "Der Pegel stimmt nicht mehr.\n{log}测量时请始终使用公制单位。\n{code}Never row at night, please.\n"
        );
        assert_eq!(pasted(&text), [log, code]);
    }

    #[test]
    fn values_that_the_user_typed_are_not_pasted() {
        let typed = "The piers are:\n- 7 (4.2 m)\n- 8 (0.3 m)\n- 9 (6.1 m)\nUse them from north to south.\n";
        assert!(pasted(typed).is_empty());
    }

    #[test]
    fn one_very_long_line_of_data_is_pasted() {
        let data = format!("{}\n", "{\"pier\":7,\"depth\":4.2}".repeat(60));
        assert_eq!(
            pasted(&format!("Look:\n{data}Is it shallow?")),
            [data.as_str()]
        );
        let sentence = "Never row at night. ".repeat(80);
        assert!(pasted(&sentence).is_empty());
    }
}
