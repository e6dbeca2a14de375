//! Text that a terminal shows and does nothing else with. Whatever baler says to people passes
//! through here on its way out (`output.rs`), so no message has to think of it: file names,
//! arguments, codes of strategies and errors of libraries may hold anything.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use anstyle::Style;

/// The most characters of a message from its beginning.
const BEGINNING: usize = 1_200;

/// And from its end, where what to do about it often stands.
const END: usize = 300;

/// What stands for an escape in baler's own styles until they are written: a noncharacter, which
/// no text is meant to hold, and a number of this run's, so that a text that holds one
/// nevertheless is not taken for baler's own.
fn own_escape() -> &'static str {
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| {
        // The standard library's keys are random; another way to chance is not at hand.
        format!("\u{fdd0}{:016x}", RandomState::new().hash_one(0))
    })
}

/// What follows the escape in the styles that baler has.
const OWN_STYLES: [&str; 6] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"];

/// `text` in `style`. Whether it is shown in colour is decided where it is written.
pub(crate) fn styled(style: Style, text: &str) -> String {
    let own = own_escape();
    let on = format!("{style}").replace('\u{1b}', own);
    let off = format!("{style:#}").replace('\u{1b}', own);
    format!("{on}{text}{off}")
}

/// Whether a terminal does something with a character instead of showing it: control characters
/// (C0, DEL and C1), those that turn the direction of writing, and those that show nothing, by
/// which two names look like one or a name holds more than anybody sees. Variation selectors are
/// among them, though an emoji may have an honest one.
pub(crate) fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fffe}'
                | '\u{ffff}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Words for people, as they are written: lines and tabs stay, baler's own styles become escape
/// sequences, and every other active character is spelled out, such as `\u{1b}`.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut parts = text.split(own_escape());
    push_foreign(&mut shown, parts.next().unwrap_or_default());
    for part in parts {
        if OWN_STYLES.iter().any(|style| part.starts_with(style)) {
            shown.push('\u{1b}');
        }
        push_foreign(&mut shown, part);
    }
    shown
}

fn push_foreign(shown: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if is_active(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
}

/// A message on one line: a file name or another quoted text may hold ends of lines, and forge
/// what looks like another message. And no more of it than anybody reads, however long what it
/// quotes is.
pub(crate) fn line(message: &str) -> String {
    let left_out = message.chars().count().saturating_sub(BEGINNING + END);
    let mut line = String::new();
    for (index, c) in message.chars().enumerate() {
        if left_out > 0 && index == BEGINNING {
            // Writing to a string cannot fail.
            let _ = write!(line, "… ({left_out} characters left out) …");
        }
        match c {
            _ if (BEGINNING..BEGINNING + left_out).contains(&index) => {}
            '\n' => line.push_str("\\n"),
            c => line.push(c),
        }
    }
    line
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
    fn visible_spells_out_what_shows_nothing() {
        for (first, last) in [
            ('\u{ad}', '\u{ad}'),
            ('\u{180e}', '\u{180e}'),
            ('\u{200b}', '\u{200f}'),
            ('\u{202a}', '\u{202e}'),
            ('\u{2060}', '\u{206f}'),
            ('\u{3164}', '\u{3164}'),
            ('\u{fe00}', '\u{fe0f}'),
            ('\u{feff}', '\u{feff}'),
            ('\u{e0000}', '\u{e007f}'),
            ('\u{e0100}', '\u{e01ef}'),
        ] {
            for c in first..=last {
                let spelled = format!("a\\u{{{:x}}}b", u32::from(c));
                assert_eq!(visible(&format!("a{c}b")), spelled);
            }
        }
        // What shows something stays, marks on letters and spaces included.
        let shown = "e\u{301} ñ 漢字 नमस्ते שלום 🎈 \u{a0}\u{3000}";
        assert_eq!(visible(shown), shown);
    }

    #[test]
    fn visible_lets_only_balers_own_styles_through() {
        let bad = AnsiColor::Red.on_default().bold();
        let text = styled(bad, "a\u{1b}[31mb");
        assert_eq!(visible(&text), "\u{1b}[1m\u{1b}[31ma\\u{1b}[31mb\u{1b}[0m");
        // Whoever knows the stand-in gets no other escape sequence by it.
        assert_eq!(visible("\u{fdd0}[2J"), "\\u{fdd0}[2J");
        assert_eq!(visible("\u{fdd0}]0;x\u{7}"), "\\u{fdd0}]0;x\\u{7}");
        // Nor a colour, as long as it cannot know the number of the run.
        assert_eq!(visible("\u{fdd0}[31mb"), "\\u{fdd0}[31mb");
        assert_eq!(
            visible("\u{fdd0}0123456789abcdef[31mb"),
            "\\u{fdd0}0123456789abcdef[31mb"
        );
    }

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        assert_eq!(
            line("cannot read `a\nerror: b`"),
            "cannot read `a\\nerror: b`"
        );
        let whole = "é".repeat(BEGINNING + END);
        assert_eq!(line(&whole), whole);
        let long = format!("a{}z; what to do", "é".repeat(1 << 20));
        let shown = line(&long);
        assert!(shown.starts_with("aé") && shown.ends_with("éz; what to do"));
        // Beside the many there are `a` and the 13 characters of `z; what to do`.
        let left_out = (1 << 20) + 1 + 13 - BEGINNING - END;
        assert!(
            shown.contains(&format!("é… ({left_out} characters left out) …é")),
            "{shown}"
        );
        assert!(shown.chars().count() < BEGINNING + END + 50);
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
