//! The host's own lines in an excerpt: the first one, and those that say how much is missing.

use std::borrow::Cow;

/// Beginning of the first line of an excerpt, which names the reference to the whole text.
pub const EXCERPT_HEAD: &str = "[This text was too long for the context window and is shortened";

/// Beginning of a line about what is missing. A line of the text itself that begins like this has a backslash
/// in front of it.
pub const GAP: &str = "[…";

/// Returns the bytes of the first line if it is the host's.
#[must_use]
pub fn head_length(text: &str) -> usize {
    match text.split_once('\n') {
        Some((line, _)) if line.starts_with(EXCERPT_HEAD) => line.len() + 1,
        _ => 0,
    }
}

/// Replaces lines about what is missing by blank ones, so that no sentence goes on across a gap.
#[must_use]
pub fn without_gaps(text: &str) -> Cow<'_, str> {
    if !text.contains(GAP) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let is_gap = line.starts_with(GAP) && line.trim_end().ends_with(" left out …]");
        written.push_str(if is_gap { "\n" } else { line });
    }
    Cow::Owned(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_become_blank_lines_and_all_else_stays() {
        let text = "Never\n[… 2 lines, 90 bytes left out …]\npush.\n\\[… 3 bytes left out …]\n[…]";
        assert_eq!(
            without_gaps(text),
            "Never\n\npush.\n\\[… 3 bytes left out …]\n[…]"
        );
        assert!(matches!(without_gaps("Go on."), Cow::Borrowed("Go on.")));
    }

    #[test]
    fn only_a_first_line_of_the_hosts_is_a_head() {
        let head = format!("{EXCERPT_HEAD}; whole: 3f2a]\n");
        assert_eq!(head_length(&format!("{head}Go on.")), head.len());
        assert_eq!(head_length(&format!("Go on.\n{head}")), 0);
        assert_eq!(head_length(EXCERPT_HEAD), 0);
    }
}
