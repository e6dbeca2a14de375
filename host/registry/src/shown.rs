//! Texts of others in errors.

/// Maximum number of characters of a text that a registry or a file sent, in an error.
const MOST: usize = 200;

/// Returns the beginning of a text that somebody else wrote, on one line.
pub(crate) fn shown(text: &str) -> String {
    let line = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: String = text.trim().chars().take(MOST).map(line).collect();
    if text.trim().chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}
