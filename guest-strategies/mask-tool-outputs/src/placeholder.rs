//! Writes the text that replaces an output.

use std::fmt::Write;

use baler_digest::{OUTPUT_NOTICE, masked};
use baler_strategy::ToolOutput;

const FIRST_LINE: usize = 80;
const ERROR_LINE: usize = 200;
const NAME: usize = 64;

/// How much of the output a placeholder repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Its first line, and its error if it failed.
    Lines,
    /// Its error if it failed.
    Error,
}

/// Returns the placeholder of an output. `reference` is its key in the archive.
pub(crate) fn placeholder(
    output: &ToolOutput,
    tokens: u32,
    reference: Option<&str>,
    detail: Detail,
) -> String {
    let mut text = String::from(OUTPUT_NOTICE);
    match bounded(&output.name, NAME).as_str() {
        "" => text.push_str("a tool"),
        name => text.push_str(name),
    }
    let own = masked(&output.text);
    let lines = output.text.lines().count();
    let plural = if lines == 1 { "" } else { "s" };
    let _ = write!(text, " left out: {tokens} tokens, {lines} line{plural}");
    if detail == Detail::Lines
        && let Some(line) = own.lines().map(str::trim).find(|line| !line.is_empty())
    {
        let _ = write!(text, ", first line: \"{}\"", bounded(line, FIRST_LINE));
    }
    if output.failed
        && let Some(line) = error_line(&own)
    {
        let _ = write!(text, ", it failed: \"{}\"", bounded(line, ERROR_LINE));
    }
    if let Some(reference) = reference {
        let _ = write!(text, "; have it back by reference {reference}");
    }
    text.push(']');
    text
}

/// Returns the last line that looks like an error, or else the last line.
fn error_line(text: &str) -> Option<&str> {
    const WORDS: [&str; 8] = [
        "error",
        "failed",
        "failure",
        "fatal",
        "panic",
        "exception",
        "not found",
        "denied",
    ];
    let lines = || {
        text.lines()
            .rev()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    lines()
        .find(|line| {
            let line = line.to_lowercase();
            WORDS.iter().any(|word| line.contains(word))
        })
        .or_else(|| lines().next())
}

/// Returns at most `limit` characters of the text. Characters that end the line or change its direction
/// become blanks.
fn bounded(text: &str, limit: usize) -> String {
    let mut characters = text.chars();
    let mut bounded: String = characters
        .by_ref()
        .take(limit)
        .map(|character| match character {
            character if character.is_control() => ' ',
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => ' ',
            character => character,
        })
        .collect();
    if characters.next().is_some() {
        bounded.push('…');
    }
    bounded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(name: &str, failed: bool, text: &str) -> ToolOutput {
        ToolOutput {
            call_id: String::new(),
            name: name.to_owned(),
            failed,
            text: text.to_owned(),
            media: Vec::new(),
        }
    }

    #[test]
    fn it_says_what_was_there_how_large_and_how_to_have_it_back() {
        assert_eq!(
            placeholder(
                &output("read_file", false, "\n fn main() {\n}\n"),
                2314,
                Some("3fa9"),
                Detail::Lines
            ),
            "[output of read_file left out: 2314 tokens, 3 lines, first line: \"fn main() {\"; \
             have it back by reference 3fa9]"
        );
        assert_eq!(
            placeholder(&output("", false, "x"), 1, None, Detail::Error),
            "[output of a tool left out: 1 tokens, 1 line]"
        );
    }

    #[test]
    fn a_failed_output_keeps_its_last_error() {
        let text = "compiling\nerror: first\nerror: second\nmore to read";
        assert!(
            placeholder(&output("cargo", true, text), 9, None, Detail::Error)
                .ends_with(", it failed: \"error: second\"]")
        );
        assert!(
            placeholder(&output("sh", true, "a\nexit 1\n\n"), 9, None, Detail::Error)
                .ends_with(", it failed: \"exit 1\"]")
        );
    }

    #[test]
    fn no_secret_is_repeated() {
        let key = "ghp_k2Jq8Wm4Zt6Rb1Xc9Vn3Lp7Hs5Df0Gy";
        let output = output("env", true, &format!("A={key}\nerror: bad token {key}"));
        assert_eq!(
            placeholder(&output, 9, None, Detail::Lines),
            "[output of env left out: 9 tokens, 2 lines, first line: \"A=[secret]\", \
             it failed: \"error: bad token [secret]\"]"
        );
    }

    #[test]
    fn long_lines_end_on_a_character() {
        let text = placeholder(
            &output("cat", true, &"漢".repeat(500)),
            9,
            None,
            Detail::Lines,
        );
        assert!(text.contains(&format!("\"{}…\"", "漢".repeat(80))));
        assert!(text.contains(&format!("\"{}…\"", "漢".repeat(200))));
    }

    #[test]
    fn it_is_one_line_whatever_the_output_holds() {
        let text = placeholder(
            &output("a\nb", false, "x\u{1b}[0m\u{2028}y\u{202e}"),
            9,
            None,
            Detail::Lines,
        );
        assert!(!text.contains(|character: char| character.is_control()));
        assert!(!text.contains(['\u{2028}', '\u{202e}']));
    }
}
