//! The sections of a digest.

/// A section. Their order here is their order in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Section {
    Requests,
    Rules,
    Done,
    Decisions,
    Said,
    Errors,
    Tasks,
    Open,
    Values,
    Names,
    Earlier,
}

impl Section {
    const ALL: [Self; 11] = [
        Self::Requests,
        Self::Rules,
        Self::Done,
        Self::Decisions,
        Self::Said,
        Self::Errors,
        Self::Tasks,
        Self::Open,
        Self::Values,
        Self::Names,
        Self::Earlier,
    ];

    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Requests => "## What the user asked",
            Self::Rules => "## Standing instructions",
            Self::Done => "## What was done",
            Self::Decisions => "## Decisions and findings",
            Self::Tasks => "## To-do list",
            Self::Names => "## Names that came up",
            Self::Said => "## What the assistant said",
            Self::Errors => "## Errors",
            Self::Values => "## Values",
            Self::Open => "## Open",
            Self::Earlier => "## Earlier summaries",
        }
    }

    /// Whether a story tells it better than a list. What else there is has to be exact.
    pub(super) const fn can_be_told(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Decisions | Self::Said | Self::Earlier
        )
    }

    pub(super) fn headed(line: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|section| section.heading() == line)
    }
}

/// What some strategies put around a summary; it says nothing.
const WRAPPERS: [&str; 2] = ["<context_summary>", "</context_summary>"];

/// The entries of an earlier summary, each with the section that it stood in and without what its lines
/// are indented by. Lines of a summary that is no digest stand in [`Section::Earlier`], every line for
/// itself.
pub(super) fn entries(summary: &str) -> Vec<(Section, String)> {
    let mut section = Section::Earlier;
    let mut entries: Vec<(Section, String)> = Vec::new();
    let mut is_after_empty = false;
    for line in summary.lines() {
        if let Some(headed) = Section::headed(line.trim_end()) {
            section = headed;
        } else if let Some(more) = line.strip_prefix("  ")
            && section != Section::Earlier
            && let Some((_, entry)) = entries.last_mut().filter(|(of, _)| *of == section)
        {
            entry.push_str(if is_after_empty { "\n\n" } else { "\n" });
            entry.push_str(more);
        } else if !line.trim().is_empty() && !WRAPPERS.contains(&line.trim()) {
            entries.push((
                section,
                line.strip_prefix("- ").unwrap_or(line).trim().to_owned(),
            ));
        }
        is_after_empty = line.trim().is_empty();
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_back_entry_by_entry() {
        let text = "## What the user asked\n- Fix it\n  quickly\n\n    now\n- Then test\n\n## Errors\n- E1\n";
        let expected = [
            (Section::Requests, "Fix it\nquickly\n\n  now".to_owned()),
            (Section::Requests, "Then test".to_owned()),
            (Section::Errors, "E1".to_owned()),
        ];
        assert_eq!(entries(text), expected);
    }

    #[test]
    fn another_summary_is_read_line_by_line() {
        let text = "<context_summary>\n# Progress\n\n  - fixed a\n  - fixed b\n</context_summary>";
        let lines: Vec<String> = entries(text).into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, ["# Progress", "- fixed a", "- fixed b"]);
    }
}
