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

/// What some strategies put around a summary; it says nothing.
const WRAPPERS: [&str; 2] = ["<context_summary>", "</context_summary>"];

/// The entries of an earlier summary, each with the section that it stood in and without what its lines
/// are indented by. Lines of a summary that is no digest stand in [`Section::Earlier`], every line for
/// itself. One is made at a time: all together can take many times the bytes of the summary.
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
    /// The entry that the next line may go on with.
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

/// The most entries of one section that are taken from one summary: the first of them. A digest has 400 KB
/// at most, and far fewer.
pub(super) const ENTRIES: usize = 5_000;

/// The most that are taken from all summaries of a conversation: a line of one letter becomes a fact of
/// more than a hundred bytes, and what limits a conversation is its bytes. The user's rules have
/// as much room of their own.
const OF_ALL: usize = 20_000;

/// How many entries can still be taken from the summaries of a conversation.
#[derive(Debug)]
pub(super) struct Room {
    rules: usize,
    others: usize,
    /// Of the summary that is read now, by section.
    of_one: [usize; Section::ALL.len()],
}

impl Default for Room {
    fn default() -> Self {
        Self {
            rules: OF_ALL,
            others: OF_ALL,
            of_one: [ENTRIES; Section::ALL.len()],
        }
    }
}

impl Room {
    /// From here on, entries are those of another summary.
    pub(super) const fn begin(&mut self) {
        self.of_one = [ENTRIES; Section::ALL.len()];
    }

    /// Whether there is room for an entry, which it takes.
    pub(super) const fn take(&mut self, section: Section) -> bool {
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
    fn another_summary_is_read_line_by_line() {
        let text = "<context_summary>\n# Progress\n\n  - fixed a\n  - fixed b\n</context_summary>";
        let lines: Vec<String> = entries(text).map(|(_, line)| line).collect();
        assert_eq!(lines, ["# Progress", "- fixed a", "- fixed b"]);
    }

    #[test]
    fn a_line_goes_on_with_an_entry_of_its_own_section_only() {
        let text = "## Open\n- a\n## Errors\n  b\n  c\n## Open\n## Errors\n  d\n";
        let expected = [
            (Section::Open, "a".to_owned()),
            (Section::Errors, "b\nc\nd".to_owned()),
        ];
        assert_eq!(entries(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn entries_have_room_by_section_and_all_together_and_rules_have_their_own() {
        let mut room = Room::default();
        let take =
            |room: &mut Room, section| (0..3 * OF_ALL).filter(|_| room.take(section)).count();
        for _ in 0..OF_ALL / ENTRIES / 2 {
            room.begin();
            assert_eq!(take(&mut room, Section::Earlier), ENTRIES);
            assert_eq!(take(&mut room, Section::Done), ENTRIES);
        }
        room.begin();
        assert_eq!(take(&mut room, Section::Open), 0);
        assert_eq!(take(&mut room, Section::Rules), ENTRIES);
    }
}
