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

/// Returns where in a text of the user's something was pasted, in order. Each place begins and ends at a line.
#[must_use]
pub fn pastes_in(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut run = Run::default();
    let mut fence: Option<usize> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let place = start..start + line.len();
        start = place.end;
        let is_fence = line.trim_start().starts_with(FENCE);
        match fence {
            Some(opened) if is_fence => {
                found.push(opened..place.end);
                fence = None;
            }
            Some(_) => {}
            None if is_fence => {
                run.end(&mut found);
                fence = Some(place.start);
            }
            None if line.trim().is_empty() => {}
            None if is_prose(line) => run.end(&mut found),
            None => run.add(place),
        }
    }
    // A fence that nothing closes begins a paste that was cut off.
    match fence {
        Some(opened) => found.push(opened..text.len()),
        None => run.end(&mut found),
    }
    found
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
    fn blocks_between_fences_are_pasted_even_if_they_are_cut_off() {
        let text =
            "Why does this fail?\n```rust\nlet tide = 7;\n```\nOnly mend the tide.\n```\nebb";
        assert_eq!(pasted(text), ["```rust\nlet tide = 7;\n```\n", "```\nebb"]);
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
