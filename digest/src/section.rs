//! The sections of a digest.

/// A section of a digest. The order of the variants is the order in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Section {
    Requests,
    Rules,
    Told,
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
    const ALL: [Self; 12] = [
        Self::Requests,
        Self::Rules,
        Self::Told,
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
            Self::Told => "## What the user said",
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

    /// Whether a story says it better than a list. The other sections have to be exact.
    pub(super) const fn is_replaced_by_story(self) -> bool {
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

/// Lines that some strategies put around a summary, which are ignored.
const WRAPPERS: [&str; 2] = ["<context_summary>", "</context_summary>"];

/// Iterates the entries of an earlier summary, each with its section and without its indentation. Each line
/// of a summary that is not a digest is an entry of [`Section::Earlier`]. Entries are made one at a time:
/// together they can take many times the bytes of the summary.
pub(super) fn entries(summary: &str) -> Entries<'_> {
    Entries {
        lines: summary.lines(),
        section: Section::Earlier,
        is_after_empty: false,
        begun: None,
    }
}

#[derive(Debug)]
pub(super) struct Entries<'t> {
    lines: std::str::Lines<'t>,
    section: Section,
    is_after_empty: bool,
    /// The entry that the next line may continue.
    begun: Option<(Section, String)>,
}

impl Iterator for Entries<'_> {
    type Item = (Section, String);

    fn next(&mut self) -> Option<Self::Item> {
        for line in self.lines.by_ref() {
            let section = self.section;
            let is_after_empty = self.is_after_empty;
            self.is_after_empty = line.trim().is_empty();
            if let Some(headed) = Section::headed(line.trim_end()) {
                self.section = headed;
            } else if let Some(more) = line.strip_prefix("  ")
                && section != Section::Earlier
                && let Some((_, entry)) = self.begun.as_mut().filter(|(of, _)| *of == section)
            {
                entry.push_str(if is_after_empty { "\n\n" } else { "\n" });
                entry.push_str(more);
            } else if !line.trim().is_empty() && !WRAPPERS.contains(&line.trim()) {
                let entry = line.strip_prefix("- ").unwrap_or(line).trim().to_owned();
                let whole = self.begun.replace((section, entry));
                if whole.is_some() {
                    return whole;
                }
            }
        }
        self.begun.take()
    }
}

/// Most entries of one section that are read from one summary: the first ones. A digest has at most 400 KB,
/// and far fewer entries.
pub(super) const ENTRIES: usize = 5_000;

/// Most entries that are read from all summaries of a conversation, and most rules besides: a line of one
/// letter becomes a fact of more than a hundred bytes, and a conversation is limited by its bytes.
const OF_ALL: usize = 20_000;

/// How many entries can still be read from the summaries of a conversation.
#[derive(Debug)]
pub(super) struct EntryLimits {
    rules: usize,
    others: usize,
    /// Entries left in the current summary, by section.
    of_one: [usize; Section::ALL.len()],
}

impl Default for EntryLimits {
    fn default() -> Self {
        Self {
            rules: OF_ALL,
            others: OF_ALL,
            of_one: [ENTRIES; Section::ALL.len()],
        }
    }
}

impl EntryLimits {
    /// Begins another summary.
    pub(super) const fn begin(&mut self) {
        self.of_one = [ENTRIES; Section::ALL.len()];
    }

    /// Whether one more entry may be read, which is then counted.
    pub(super) const fn admit(&mut self, section: Section) -> bool {
        let of_all = match section {
            Section::Rules => &mut self.rules,
            _ => &mut self.others,
        };
        let of_one = &mut self.of_one[section as usize];
        if *of_all == 0 || *of_one == 0 {
            return false;
        }
        *of_all -= 1;
        *of_one -= 1;
        true
    }
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
        assert_eq!(entries(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_summary_that_is_no_digest_is_read_line_by_line() {
        let text = "<context_summary>\n# Progress\n\n  - fixed a\n  - fixed b\n</context_summary>";
        let lines: Vec<String> = entries(text).map(|(_, line)| line).collect();
        assert_eq!(lines, ["# Progress", "- fixed a", "- fixed b"]);
    }

    #[test]
    fn an_indented_line_continues_only_an_entry_of_its_section() {
        let text = "## Open\n- a\n## Errors\n  b\n  c\n## Open\n## Errors\n  d\n";
        let expected = [
            (Section::Open, "a".to_owned()),
            (Section::Errors, "b\nc\nd".to_owned()),
        ];
        assert_eq!(entries(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn entries_are_limited_by_section_and_in_total_and_rules_separately() {
        let mut entry_limits = EntryLimits::default();
        let take = |entry_limits: &mut EntryLimits, section| {
            (0..3 * OF_ALL)
                .filter(|_| entry_limits.admit(section))
                .count()
        };
        for _ in 0..OF_ALL / ENTRIES / 2 {
            entry_limits.begin();
            assert_eq!(take(&mut entry_limits, Section::Earlier), ENTRIES);
            assert_eq!(take(&mut entry_limits, Section::Done), ENTRIES);
        }
        entry_limits.begin();
        assert_eq!(take(&mut entry_limits, Section::Open), 0);
        assert_eq!(take(&mut entry_limits, Section::Rules), ENTRIES);
    }
}
