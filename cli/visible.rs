//! Text that a terminal shows and does nothing else with. Whatever baler says to people passes
//! through here on its way out (`output.rs`), so no message has to think of it: file names,
//! arguments, codes of strategies and errors of libraries may hold anything.

use std::fmt::Write as _;

use anstyle::Style;

/// What stands for an escape in baler's own styles until they are written. It is a
/// noncharacter, which no text is meant to hold, and is let through only with a style that
/// baler has, so a text that holds one nevertheless gets no more than a colour.
const OWN_ESCAPE: char = '\u{fdd0}';

/// What follows the escape in the styles that baler has.
const OWN_STYLES: [&str; 6] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"];

/// `text` in `style`. Whether it is shown in colour is decided where it is written.
pub(crate) fn styled(style: Style, text: &str) -> String {
    let mut own = [0; 4];
    let own = OWN_ESCAPE.encode_utf8(&mut own);
    let on = format!("{style}").replace('\u{1b}', own);
    let off = format!("{style:#}").replace('\u{1b}', own);
    format!("{on}{text}{off}")
}

/// Whether a terminal does something with a character instead of showing it: control characters
/// (C0, DEL and C1), those that turn the direction of writing, and those that show nothing.
pub(crate) fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fffe}'
                | '\u{ffff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Words for people, as they are written: lines and tabs stay, baler's own styles become escape
/// sequences, and every other active character is spelled out, such as `\u{1b}`.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let after = rest.as_str();
        let is_style = || OWN_STYLES.iter().any(|style| after.starts_with(style));
        match c {
            '\n' | '\t' => shown.push(c),
            OWN_ESCAPE if is_style() => shown.push('\u{1b}'),
            c if is_active(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

/// A JSON document, as a terminal gets it: the same document, with active characters spelled as
/// JSON spells them.
pub(crate) fn visible_json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            // As a character of its own it can only stand between values, where it is white space.
            '\r' => shown.push(' '),
            c if is_active(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(shown, "\\u{unit:04x}");
                }
            }
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use anstyle::AnsiColor;

    use super::*;

    #[test]
    fn visible_spells_out_what_a_terminal_would_act_on() {
        let foreign = "a\u{1b}]0;x\u{7}\r\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2066}b\n\tc é 漢 🎈";
        assert_eq!(
            visible(foreign),
            "a\\u{1b}]0;x\\u{7}\\r\\u{1b}[2J\\u{9b}31m\\u{7f}\\u{202e}\\u{2066}b\n\tc é 漢 🎈"
        );
    }

    #[test]
    fn visible_lets_only_balers_own_styles_through() {
        let bad = AnsiColor::Red.on_default().bold();
        let text = styled(bad, "a\u{1b}[31mb");
        assert_eq!(visible(&text), "\u{1b}[1m\u{1b}[31ma\\u{1b}[31mb\u{1b}[0m");
        // Whoever knows the stand-in gets no other escape sequence by it.
        assert_eq!(visible("\u{fdd0}[2J"), "\\u{fdd0}[2J");
        assert_eq!(visible("\u{fdd0}]0;x\u{7}"), "\\u{fdd0}]0;x\\u{7}");
    }

    #[test]
    fn every_style_of_the_program_is_let_through() {
        use crate::output::{BAD, BOLD, CHANGED, FAINT, GOOD};
        for style in [BOLD, FAINT, GOOD, CHANGED, BAD, GOOD.bold(), CHANGED.bold()] {
            assert_eq!(visible(&styled(style, "x")), format!("{style}x{style:#}"));
        }
    }

    #[test]
    fn visible_json_means_the_same_document() {
        let document = "{\"a\":\t\"\u{9b}31m\u{202e}\u{e0041}\u{7f}\"}\r\n";
        let shown = visible_json(document);
        assert!(
            shown
                .chars()
                .all(|c| c == '\n' || c == '\t' || !is_active(c))
        );
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(read(&shown), read(document));
    }
}
