//! Characters that show nothing.

/// Whether a text shows nothing: it contains only white space, control characters, and characters that steer
/// others or have no shape.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_hidden(c))
}

/// Whether a character shows nothing and is not white space: it is a control character, steers others or has
/// no shape.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control() && !c.is_whitespace()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_shows_nothing_is_blank() {
        for text in [
            "",
            " \n",
            "\u{200b}",
            "\u{feff}\u{2060}\t\u{ad}",
            "\u{1b}\u{3164}",
        ] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in [".", "\u{200b}a", "é", "日", "👍\u{fe0f}"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
