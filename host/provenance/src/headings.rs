//! The headings of a digest, by which it is read back.

/// A section of a digest that has a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// What the user said, and rules of the user that still hold.
    Told,
    /// What earlier summaries said that nothing else says.
    Earlier,
    /// What happened, in order.
    History,
    /// The newest to-do list.
    Tasks,
    /// Values that were given.
    Values,
    /// Names, by where they came up.
    Names,
}

impl Heading {
    const ALL: [Self; 6] = [
        Self::Told,
        Self::Earlier,
        Self::History,
        Self::Tasks,
        Self::Values,
        Self::Names,
    ];

    /// The line that is the heading.
    #[must_use]
    pub const fn line(self) -> &'static str {
        match self {
            Self::Told => "## What the user said",
            Self::Earlier => "## Earlier summaries",
            Self::History => "## History",
            Self::Tasks => "## To-do list",
            Self::Values => "## Values",
            Self::Names => "## Names that came up",
        }
    }

    /// The heading that a line without white space at its end is; `None` if it is another line.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.line() == line)
    }
}

/// Returns a line without what would make it a heading of a digest.
#[must_use]
pub fn unheaded(line: &str) -> &str {
    match Heading::of(line.trim_end()) {
        Some(_) => line.trim_start_matches(['#', ' ']),
        None => line,
    }
}

/// Returns a text, mostly by a model, with no line that can pass for a heading of a digest. The next
/// compaction would take what follows such a heading for the user's rules.
#[must_use]
pub fn without_headings(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(unheaded).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_headings_removes_only_headings_of_a_digest() {
        let text = "Done.\n## What the user said\r\n- a\n## Next\n\n  b\n";
        assert_eq!(
            without_headings(text),
            "Done.\nWhat the user said\r\n- a\n## Next\n\n  b\n"
        );
    }
}
