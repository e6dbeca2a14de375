//! Texts of users and tools as entries of a digest: limited in length, and without control characters.

use std::borrow::Cow;

use serde_json::Value;

use super::lines;
use super::{sentences, shares};
use baler_provenance::own_tag;

/// Most bytes of a text that is parsed as JSON.
const PARSED: usize = 1 << 20;

/// Most values of a text that is parsed as JSON. A value can take ninety times the bytes of its text, and a
/// conversation is limited by its bytes.
const VALUES: usize = 1 << 15;

/// Parses a text as JSON; `None` if it is not JSON, or more than is parsed.
pub(crate) fn parsed(text: &str) -> Option<Value> {
    if text.len() > PARSED || most_values(text) > VALUES {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// Returns an upper bound of the number of values that a text has as JSON.
fn most_values(text: &str) -> usize {
    let mut bytes = text.bytes();
    let mut is_string = false;
    let mut values = 1;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_string = !is_string,
            b'\\' if is_string => {
                bytes.next();
            }
            b',' | b'[' | b'{' if !is_string => values += 1,
            _ => {}
        }
    }
    values
}

/// Marks where something was cut off.
const CUT: &str = "…";

/// Most bytes that are given up to cut after a sentence.
const NEAR: usize = 200;

/// Returns `text` as one line without control characters, of at most `limit` bytes.
pub(super) fn line(text: &str, limit: usize) -> String {
    clean(&shorten(text.trim(), limit)).trim().to_owned()
}

/// Returns at most `limit` bytes of `text` with its lines after the first indented, so that none of them can
/// be taken for a heading or an entry. One empty line is kept between paragraphs: without it their sentences
/// would be joined when they are read again.
///
/// The result must not be passed in again, because its lines would be indented once more.
pub(super) fn block(text: &str, limit: usize) -> String {
    let text = dedented(text);
    let text = shorten_to_sentence(text.trim(), limit);
    let mut written = String::with_capacity(text.len());
    let mut is_after_empty = false;
    for line in text.lines() {
        let line = clean(line);
        let line = line.trim_end();
        if line.is_empty() {
            is_after_empty = true;
            continue;
        }
        if written.is_empty() {
            written.push_str(line.trim_start());
        } else {
            written.push_str(if is_after_empty { "\n\n  " } else { "\n  " });
            written.push_str(line);
        }
        is_after_empty = false;
    }
    written
}

/// Returns `text` without the spaces and tabs that all of its lines begin with, as in a text within source
/// code. Such lines are not code.
pub(super) fn dedented(text: &str) -> Cow<'_, str> {
    let mut shared: Option<&str> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let own = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let before = shared.unwrap_or(own).bytes();
        let length = before
            .zip(own.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        if length == 0 {
            return Cow::Borrowed(text);
        }
        shared = Some(&own[..length]);
    }
    let Some(shared) = shared else {
        return Cow::Borrowed(text);
    };
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.strip_prefix(shared).unwrap_or_default())
        .collect();
    Cow::Owned(lines.join("\n"))
}

/// Returns at most `limit` bytes of `text`, in whole characters, with a mark if something is missing.
pub(super) fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(limit.saturating_sub(CUT.len()));
    Cow::Owned(format!("{}{CUT}", text[..end].trim_end()))
}

/// Shortens as [`shorten`] does, but cuts after a sentence if one ends nearby: half a sentence may say
/// something else than the whole.
pub(super) fn shorten_to_sentence(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    // A space separates the mark from the complete sentence.
    let room = limit.saturating_sub(CUT.len() + 1);
    match sentences::last_end(text, room).filter(|end| end + NEAR >= limit) {
        Some(end) => Cow::Owned(format!("{} {CUT}", text[..end].trim_end())),
        None => shorten(text, limit),
    }
}

/// Begins and ends a block of code.
pub(super) const FENCE: &str = "```";

/// Whether a block of code is open at the end of a text.
fn is_within_code(text: &str) -> bool {
    !text.matches(FENCE).count().is_multiple_of(2)
}

/// Returns at most `limit` bytes of a longer text: a third from its beginning, a mark, and the rest from its end,
/// both to and from whole sentences or lines.
pub(super) fn ends(text: &str, limit: usize) -> String {
    const BETWEEN: &str = "\n\n";
    let room = limit.saturating_sub(BETWEEN.len());
    let beginning = shorten_to_sentence(text, room / 3);
    let beginning = match is_within_code(&beginning) {
        true => beginning
            .rsplit_once(FENCE)
            .map_or("", |(before, _)| before),
        false => &beginning,
    };
    let at = text.ceil_char_boundary(text.len() - (room - room / 3).min(text.len()));
    let (before, mut end) = text.split_at(at);
    // Half of a block of code is no code.
    if is_within_code(before)
        && let Some((_, behind)) = end.split_once(FENCE)
    {
        end = behind;
    }
    // Half of a line or a sentence may say something else.
    let starts = ["\n", ". ", "。"]
        .iter()
        .filter_map(|sign| Some(end.find(sign)? + sign.len()));
    let end = &end[starts.min().unwrap_or(0)..];
    format!("{}{BETWEEN}{}", beginning.trim_end(), end.trim_start())
}

/// Returns at most `limit` bytes of `text` around the byte `at`, with marks where something is missing.
pub(super) fn around(text: &str, at: usize, limit: usize) -> String {
    if text.len() <= limit {
        return clean(text);
    }
    let room = limit.saturating_sub(2 * CUT.len());
    // What follows the word at `at` says more than what precedes it.
    let start = at
        .saturating_sub(shares::BEFORE_SIGN.of(room))
        .min(text.len() - room.min(text.len()));
    let start = text.floor_char_boundary(start);
    let end = text.floor_char_boundary((start + room).min(text.len()));
    let before = if start > 0 { CUT } else { "" };
    let after = if end < text.len() { CUT } else { "" };
    format!("{before}{}{after}", clean(&text[start..end]))
}

/// Replaces by spaces control characters, characters that end a line for some readers, and marks of
/// direction, which could reverse the lines around them. Also replaces the `<` of baler's own tags: the host
/// would have to escape it, and the text would then have more tokens than counted.
pub(super) fn clean(text: &str) -> String {
    let text = characters(text);
    // Tags come last: a line feed that has become a space may have separated a tag.
    if text.contains('<') {
        return without_tags(&text);
    }
    text
}

/// Replaces by spaces each `<` that begins a tag of baler's own, in any spelling.
pub(super) fn without_tags(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        written.push_str(before);
        let is_own = own_tag(&tag[1..]).is_some();
        written.push(if is_own { ' ' } else { '<' });
        rest = &tag[1..];
    }
    written.push_str(rest);
    written
}

fn characters(text: &str) -> String {
    text.chars()
        .map(|c| {
            // A tab is part of a line, word for word.
            if c.is_control() && c != '\t'
                || lines::ends_line(c)
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            {
                ' '
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_no_control_characters_and_no_more_than_its_limit() {
        assert_eq!(line("  a\u{1b}[31mb\nc\t ", 100), "a [31mb c");
        assert_eq!(line("日本語日本語", 12), "日本語…");
        assert_eq!(line("", 10), "");
        assert_eq!(line("\u{7}a\u{7}", 10), "a");
        for end in [
            '\r', '\u{b}', '\u{c}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}',
        ] {
            assert_eq!(line(&format!("a{end}b"), 10), "a b", "{end:?}");
        }
    }

    #[test]
    fn texts_with_very_many_values_are_not_parsed() {
        let list = |values: usize| format!("[{}]", vec!["0"; values].join(","));
        // The list and the values in it are counted, and one more for what stands outside.
        assert!(parsed(&list(VALUES - 1)).is_some());
        assert!(parsed(&list(VALUES)).is_none());
        // Signs in a text are no values.
        let text = format!(
            r#"{{"code": "{}\\", "path": "a.rs"}}"#,
            r#"[\",{"#.repeat(VALUES)
        );
        assert_eq!(parsed(&text).expect("is an object")["path"], "a.rs");
        let long = format!("\"{}\"", "a".repeat(PARSED));
        assert!(parsed(&long).is_none());
    }

    #[test]
    fn ends_hold_no_half_of_a_block_of_code() {
        let prose = "The keel is dry. ".repeat(8);
        let code = format!("```sh\n{}```\n", "make keel\n".repeat(40));
        let short = ends(&format!("{prose}{code}{prose}"), 300);
        assert!(!short.contains("make") && !short.contains(FENCE), "{short}");
        let short = ends(&format!("{code}{prose}{code}"), 300);
        assert_eq!(short.matches(FENCE).count() % 2, 0, "{short}");
    }

    #[test]
    fn clean_leaves_no_tag_of_balers_own() {
        assert_eq!(
            clean("a <baler:summary> b </baler:x> c <\\\\/baler:y <b>"),
            "a  baler:summary> b  /baler:x> c  \\\\/baler:y <b>"
        );
        assert_eq!(
            clean("</ baler:x> <\u{200b}baler:y> <//baler:z>"),
            " / baler:x>  \u{200b}baler:y>  //baler:z>"
        );
        assert_eq!(clean("<\nbaler:x>"), "  baler:x>");
        // The host knows them in any case.
        assert_eq!(
            clean("<BALER: </\\Baler:x> <baler <日本語"),
            " BALER:  /\\Baler:x> <baler <日本語"
        );
        // What shows nothing within the name hides it from nobody; a control character becomes a space.
        assert_eq!(
            clean("</b\u{200b}aler\u{feff}:x> <b\u{7}aler:y>"),
            " /b\u{200b}aler\u{feff}:x> <b aler:y>"
        );
    }

    #[test]
    fn lines_of_a_block_are_indented() {
        assert_eq!(
            block("\u{1b} a\n\n \u{1b}\n\n## Rules\n- b\r\n", 100),
            "a\n\n  ## Rules\n  - b"
        );
    }

    #[test]
    fn dedented_removes_shared_indentation() {
        for (text, expected) in [
            ("\n    a\n\n      b\r\n  \n    c\n", "\na\n\n  b\n\nc"),
            ("\t\ta\n\t b", "\ta\n b"),
            ("\ta\n    b", "\ta\n    b"),
            ("a\n    b\n", "a\n    b\n"),
            (" \n", " \n"),
        ] {
            assert_eq!(dedented(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_is_cut_after_a_sentence_that_ends_nearby() {
        let text = format!("Sail on. Ask Dr. Holm. {}", "Row, ".repeat(20));
        assert_eq!(shorten_to_sentence(&text, 60), "Sail on. Ask Dr. Holm. …");
        assert_eq!(shorten_to_sentence(&text, 20), "Sail on. …");
        assert_eq!(shorten_to_sentence("Row. On.", 8), "Row. On.");
        assert_eq!(shorten_to_sentence("港。船は七時", 15), "港。 …");
        let list = "Moor:\n- at pier 5\n- at the buoy in the bay";
        assert_eq!(shorten_to_sentence(list, 30), "Moor:\n- at pier 5 …");
        // None ends near.
        let far = format!("Sail on. {}", "Row, ".repeat(100));
        let cut = shorten_to_sentence(&far, 300);
        assert!(cut.len() > 290 && cut.ends_with("Row…"), "{cut}");
    }

    #[test]
    fn around_contains_the_given_position() {
        let text = format!("{}error: no{}", "x".repeat(5_000), "y".repeat(5_000));
        let excerpt = around(&text, 5_000, 100);
        assert!(
            excerpt.len() <= 100 && excerpt.contains("error: no"),
            "{excerpt}"
        );
        assert!(excerpt.starts_with('…') && excerpt.ends_with('…'));
        assert_eq!(around("error", 0, 100), "error");
        assert!(around(&text, 9_999, 100).ends_with('y'));
    }
}
