//! Escapes text for a terminal, so that the terminal shows it and does nothing else. All messages for people
//! pass through here when they are written (`output.rs`), so no message has to escape what it quotes: file
//! names, arguments, codes of strategies and errors of libraries may hold any characters.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use anstyle::Style;

/// The most characters that are shown of the beginning of a message.
const BEGINNING: usize = 1_200;

/// The most characters that are shown of its end, which often holds the remedy.
const END: usize = 300;

/// Returns the stand-in for an escape in baler's own styles until they are written: a noncharacter, which
/// texts should not hold, and a random number of this run, so that a text that does hold one is not mistaken
/// for baler's own.
fn own_escape() -> &'static str {
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| {
        // The standard library offers randomness only through these keys.
        format!("\u{fdd0}{:016x}", RandomState::new().hash_one(0))
    })
}

/// What follows the escape in baler's own styles.
const OWN_STYLES: [&str; 6] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"];

/// Returns `text` in `style`. Whether it is shown in colour is decided when it is written.
pub(crate) fn styled(style: Style, text: &str) -> String {
    let own = own_escape();
    let on = format!("{style}").replace('\u{1b}', own);
    let off = format!("{style:#}").replace('\u{1b}', own);
    format!("{on}{text}{off}")
}

/// Returns whether a terminal acts on a character instead of showing it: control characters (C0, DEL and C1),
/// characters that change the direction of writing, and invisible ones, by which two names can look alike or
/// a name can hold more than people see. Variation selectors are included, although an emoji may legitimately
/// have one.
pub(crate) fn is_active(c: char) -> bool {
    c.is_control()
        || baler_provenance::is_hidden(c)
        || matches!(
            c,
            '\u{2028}'..='\u{2029}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}'..='\u{ffff}'
        )
}

/// Returns text for people as it is written: line breaks and tabs stay, baler's own styles become escape
/// sequences, and every other active character is escaped, such as `\u{1b}`.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut parts = text.split(own_escape());
    push_untrusted(&mut shown, parts.next().unwrap_or_default());
    for part in parts {
        if OWN_STYLES.iter().any(|style| part.starts_with(style)) {
            shown.push('\u{1b}');
        }
        push_untrusted(&mut shown, part);
    }
    shown
}

fn push_untrusted(shown: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if is_active(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
}

/// Returns a message as one line of limited length. A file name or another quoted text may hold line breaks,
/// which could forge another message, and may be very long.
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

/// Returns a JSON document for a terminal: the same document, with active characters escaped as in JSON.
pub(crate) fn visible_json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            // An unescaped `\r` in JSON can only stand between values, where it is white space.
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
    fn visible_escapes_what_a_terminal_would_act_on() {
        let untrusted = "a\u{1b}]0;x\u{7}\r\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2066}b\n\tc é 漢 🎈";
        assert_eq!(
            visible(untrusted),
            "a\\u{1b}]0;x\\u{7}\\r\\u{1b}[2J\\u{9b}31m\\u{7f}\\u{202e}\\u{2066}b\n\tc é 漢 🎈"
        );
    }

    #[test]
    fn visible_escapes_invisible_characters() {
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
        // Visible characters stay, accents and spaces included.
        let shown = "e\u{301} ñ 漢字 नमस्ते שלום 🎈 \u{a0}\u{3000}";
        assert_eq!(visible(shown), shown);
    }

    #[test]
    fn visible_keeps_only_balers_own_styles() {
        let bad = AnsiColor::Red.on_default().bold();
        let text = styled(bad, "a\u{1b}[31mb");
        assert_eq!(visible(&text), "\u{1b}[1m\u{1b}[31ma\\u{1b}[31mb\u{1b}[0m");
        // A text that holds the stand-in gets no other escape sequence by it.
        assert_eq!(visible("\u{fdd0}[2J"), "\\u{fdd0}[2J");
        assert_eq!(visible("\u{fdd0}]0;x\u{7}"), "\\u{fdd0}]0;x\\u{7}");
        // Nor a colour, because it cannot know the number of the run.
        assert_eq!(visible("\u{fdd0}[31mb"), "\\u{fdd0}[31mb");
        assert_eq!(
            visible("\u{fdd0}0123456789abcdef[31mb"),
            "\\u{fdd0}0123456789abcdef[31mb"
        );
    }

    #[test]
    fn line_has_no_line_break_and_a_limited_length() {
        assert_eq!(
            line("cannot read `a\nerror: b`"),
            "cannot read `a\\nerror: b`"
        );
        let whole = "é".repeat(BEGINNING + END);
        assert_eq!(line(&whole), whole);
        let long = format!("a{}z; what to do", "é".repeat(1 << 20));
        let shown = line(&long);
        assert!(shown.starts_with("aé") && shown.ends_with("éz; what to do"));
        // In addition to the repeated character there are `a` and the 13 characters of `z; what to do`.
        let left_out = (1 << 20) + 1 + 13 - BEGINNING - END;
        assert!(
            shown.contains(&format!("é… ({left_out} characters left out) …é")),
            "{shown}"
        );
        assert!(shown.chars().count() < BEGINNING + END + 50);
    }

    #[test]
    fn visible_keeps_every_style_of_the_program() {
        use crate::output::{BAD, BOLD, CHANGED, FAINT, GOOD};
        for style in [BOLD, FAINT, GOOD, CHANGED, BAD, GOOD.bold(), CHANGED.bold()] {
            assert_eq!(visible(&styled(style, "x")), format!("{style}x{style:#}"));
        }
    }

    #[test]
    fn visible_json_is_the_same_document() {
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
