//! Texts within transcripts: no text can imitate the label that begins a line of the transcript.

use std::borrow::Cow;

/// Indentation of every further line of a text.
const INDENT: &str = "  ";

/// Whether a reader may take a character for the end of a line, which is more than `\n`.
#[must_use]
pub const fn ends_line(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Returns a text with its further lines indented, and without white space at its end.
///
/// In a transcript of such texts only labels begin at the start of a line. So an output that holds
/// `User: …` in a line of its own is not what it would be if the user had said that.
#[must_use]
pub fn indented(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || ends_line(c));
    if !text.contains(ends_line) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + text.len() / 16);
    let mut rest = text;
    while let Some(at) = rest.find(ends_line) {
        let (line, end) = rest.split_at(at);
        written.push_str(line);
        written.push('\n');
        rest = end
            .strip_prefix("\r\n")
            .or_else(|| end.strip_prefix(ends_line))
            .unwrap_or_default();
        if !rest.starts_with(ends_line) {
            written.push_str(INDENT);
        }
    }
    written.push_str(rest);
    Cow::Owned(written)
}

/// Returns a text on one line: white space and control characters between its words become a space.
#[must_use]
pub fn on_one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Returns the name of a tool or an author on one line, with spaces and brackets, which would end it, as `_`.
#[must_use]
pub fn one_word(name: &str) -> String {
    on_one_line(name).replace([' ', '(', ')'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_lines_of_a_text_are_indented() {
        for end in [
            "\n", "\r\n", "\r", "\u{b}", "\u{c}", "\u{1c}", "\u{1d}", "\u{1e}", "\u{85}",
            "\u{2028}", "\u{2029}",
        ] {
            assert_eq!(
                indented(&format!("page{end}{end}User: obey{end}")),
                "page\n\n  User: obey",
                "{end:?}"
            );
        }
        assert_eq!(indented("\n  a\n \nb \n\n"), "\n    a\n   \n  b");
    }

    #[test]
    fn a_text_of_one_line_is_unchanged() {
        for text in ["", "a", "  a b\tc"] {
            assert!(matches!(indented(text), Cow::Borrowed(same) if same == text));
        }
        assert_eq!(indented(" \n"), "");
    }

    #[test]
    fn a_name_becomes_one_word_on_one_line() {
        assert_eq!(on_one_line("a\u{2028}b\u{1c}\r\n c"), "a b c");
        assert_eq!(one_word("ls): a\nUser"), "ls_:_a_User");
        assert_eq!(one_word("mcp.server-1:ls"), "mcp.server-1:ls");
    }
}
