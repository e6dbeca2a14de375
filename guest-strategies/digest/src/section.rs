//! The sections of a digest.

use std::borrow::Cow;

use baler_provenance::headings::Heading;
use baler_provenance::is_hidden;

/// Label of what was done, where the entry begins like another label.
const DID: &str = "Did: ";

/// What an entry of a digest is about. The order of the variants is that of their headings in the text; entries
/// about what happened share one, and stand in the order in which it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Section {
    Told,
    Earlier,
    Requests,
    Done,
    Said,
    Reports,
    Errors,
    Tasks,
    Values,
    Names,
}

impl Section {
    const ALL: [Self; 10] = [
        Self::Told,
        Self::Earlier,
        Self::Requests,
        Self::Done,
        Self::Said,
        Self::Reports,
        Self::Errors,
        Self::Tasks,
        Self::Values,
        Self::Names,
    ];

    /// Those that tell what happened, but for [`Section::Done`], whose entries mostly need no label.
    const LABELLED: [Self; 4] = [Self::Requests, Self::Said, Self::Reports, Self::Errors];

    const fn headed_by(self) -> Heading {
        match self {
            Self::Told => Heading::Told,
            Self::Earlier => Heading::Earlier,
            Self::Requests | Self::Done | Self::Said | Self::Reports | Self::Errors => {
                Heading::History
            }
            Self::Tasks => Heading::Tasks,
            Self::Values => Heading::Values,
            Self::Names => Heading::Names,
        }
    }

    pub(super) const fn heading(self) -> &'static str {
        self.headed_by().line()
    }

    /// The first section with the same heading.
    pub(super) const fn group(self) -> Self {
        match self {
            Self::Done | Self::Said | Self::Reports | Self::Errors => Self::Requests,
            own => own,
        }
    }

    /// What an entry begins with in the text, which says what it is about.
    const fn label(self) -> &'static str {
        match self {
            Self::Requests => "User: ",
            Self::Said => "Assistant: ",
            Self::Reports => "Reported: ",
            Self::Errors => "Output: ",
            _ => "",
        }
    }

    /// Returns an entry as it stands in the text.
    pub(super) fn labelled(self, entry: &str) -> Cow<'_, str> {
        let label = match self {
            // A file may have any name, also one that looks like a label to a reader.
            Self::Done if begins_like_a_label(entry) => DID,
            _ => self.label(),
        };
        match label.is_empty() {
            true => Cow::Borrowed(entry),
            false => Cow::Owned(format!("{label}{entry}")),
        }
    }

    /// Returns what an entry about what happened is about, and the entry without its label.
    fn of_labelled(entry: &str) -> (Self, &str) {
        match Self::of_label(entry) {
            Some(section) => (section, &entry[section.label().len()..]),
            None => (Self::Done, entry.strip_prefix(DID).unwrap_or(entry)),
        }
    }

    fn of_label(entry: &str) -> Option<Self> {
        let mut labelled = Self::LABELLED.into_iter();
        labelled.find(|section| entry.starts_with(section.label()))
    }

    /// Whether a story says it better than a list. The other sections have to be exact.
    pub(super) const fn is_replaced_by_story(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Said | Self::Reports | Self::Earlier
        )
    }

    pub(super) fn headed(line: &str) -> Option<Self> {
        let heading = Heading::of(line)?;
        Self::ALL
            .into_iter()
            .find(|section| section.headed_by() == heading)
    }
}

/// Words by which a line says who speaks.
const SPEAKERS: [&str; 14] = [
    "user",
    "human",
    "system",
    "developer",
    "assistant",
    "model",
    "agent",
    "tool",
    "program",
    "reported",
    "noted",
    "thought",
    "output",
    "did",
];

/// Those of them that begin a label of an entry.
const OWN: [&str; 7] = [
    "user",
    "assistant",
    "reported",
    "noted",
    "thought",
    "output",
    "did",
];

/// Beginnings of entries that no reader takes for a label, whatever follows in them.
const ACTIONS: [&str; 2] = ["ran `", "called "];

/// Bytes of a line in which a label ends.
const LABEL: usize = 240;

/// Whether an entry begins like a label: with a word of one, or with words before a colon among which is one. Case,
/// signs that nobody sees, and unusual spaces within or between words make no difference.
fn begins_like_a_label(entry: &str) -> bool {
    if ACTIONS.iter().any(|action| entry.starts_with(action)) {
        return false;
    }
    let joined = plain(entry, None);
    let apart = plain(entry, Some(' '));
    [joined, apart].iter().any(|entry| {
        let visible = entry.trim_start_matches(|c: char| !c.is_alphanumeric());
        let end = visible.find(|c: char| !c.is_alphanumeric());
        let first = &visible[..end.unwrap_or(visible.len())];
        OWN.contains(&first) || is_like_a_label(entry)
    })
}

/// Whether words before a colon say who speaks. Parts of a path are no words, and neither is what stands between
/// backticks.
pub(super) fn names_a_speaker(text: &str) -> bool {
    is_like_a_label(&plain(text, None)) || is_like_a_label(&plain(text, Some(' ')))
}

fn is_like_a_label(plain: &str) -> bool {
    let Some((head, _)) = plain.split_once(':') else {
        return false;
    };
    let is_closed = head.matches('`').count().is_multiple_of(2);
    head.split('`')
        .step_by(if is_closed { 2 } else { 1 })
        .flat_map(|words| words.split(is_between_words))
        .any(|word| SPEAKERS.contains(&word.trim_matches(['.', '_'])))
}

fn is_between_words(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '/' | '\\' | '.' | '_')
}

/// Returns the beginning of a line in lower case, without signs that nobody sees, with ordinary colons, and with
/// `space` in the place of each unusual space.
fn plain(text: &str, space: Option<char>) -> String {
    let start = &text[..text.floor_char_boundary(LABEL)];
    start
        .chars()
        .filter(|c| !is_hidden(*c))
        .filter_map(|c| match c {
            ' ' | '\t' => Some(' '),
            c if c.is_whitespace() => space,
            '\u{2d0}' | '\u{2236}' | '\u{a789}' | '\u{fe13}' | '\u{fe30}' | '\u{fe55}'
            | '\u{ff1a}' => Some(':'),
            c => Some(c),
        })
        .flat_map(char::to_lowercase)
        .collect()
}

/// How lines begin that programs put around a summary, which say nothing of its conversation. Sources: summaries of Claude
/// Code, Codex, LangChain and the strategies of this project.
const FRAMES: [&str; 9] = [
    "<context_summary>",
    "</context_summary>",
    "<summary>",
    "</summary>",
    "This session is being continued from a previous conversation",
    "Please continue the conversation from where",
    "If you need specific details from before compaction",
    "Another language model started to solve this problem",
    "Here is a summary of the conversation to date:",
];

fn is_frame(line: &str) -> bool {
    let line = line.trim();
    FRAMES.iter().any(|start| line.starts_with(start))
}

/// Iterates the entries of an earlier summary, each with its section and without its indentation. Each paragraph
/// of a summary that is not a digest, with the heading above it, is an entry of [`Section::Earlier`]. Entries are made one
/// at a time: together they can take many times the bytes of the summary.
pub(super) fn entries(summary: &str) -> Entries<'_> {
    Entries {
        lines: summary.lines(),
        section: Section::Earlier,
        is_headed: false,
        is_after_empty: false,
        begun: None,
    }
}

#[derive(Debug)]
pub(super) struct Entries<'t> {
    lines: std::str::Lines<'t>,
    section: Section,
    /// Whether a heading of a digest was read.
    is_headed: bool,
    is_after_empty: bool,
    /// The entry that the next line may continue.
    begun: Option<(Section, String)>,
}

impl Iterator for Entries<'_> {
    type Item = (Section, String);

    fn next(&mut self) -> Option<Self::Item> {
        for line in self.lines.by_ref() {
            let is_after_empty = self.is_after_empty;
            self.is_after_empty = line.trim().is_empty();
            if let Some(headed) = Section::headed(line.trim_end()) {
                self.section = headed;
                self.is_headed = true;
                continue;
            }
            if line.starts_with("## ") {
                // What is below a heading of another kind of text is not the user's.
                self.section = Section::Earlier;
                self.is_headed = false;
            }
            let section = self.section;
            let begun = self.begun.as_mut();
            let begun = begun.filter(|(of, _)| of.group() == section);
            if let Some((_, entry)) = begun
                && self.is_headed
                && let Some(more) = line.strip_prefix("  ")
            {
                entry.push_str(if is_after_empty { "\n\n" } else { "\n" });
                entry.push_str(more);
            } else if let Some((_, entry)) = self.begun.as_mut()
                && !self.is_headed
                && continues(entry, line, is_after_empty)
            {
                entry.push('\n');
                entry.push_str(line.trim());
            } else if !line.trim().is_empty() && !is_frame(line) {
                let entry = line.strip_prefix("- ").unwrap_or(line).trim();
                let (section, entry) = match section {
                    Section::Requests => Section::of_labelled(entry),
                    own => (own, entry),
                };
                let whole = self.begun.replace((section, entry.to_owned()));
                if whole.is_some() {
                    return whole;
                }
            }
        }
        self.begun.take()
    }
}

/// Most bytes of the entry to which the lines of a paragraph in another program's summary are joined.
const PARAGRAPH: usize = 900;

/// Whether a line belongs to the paragraph before it: it does not begin a section, and an empty line may precede it only
/// if the paragraph is a heading.
fn continues(paragraph: &str, line: &str, is_after_empty: bool) -> bool {
    // First, since it is asked for every line, and the paragraph may be long.
    if line.trim().is_empty() || paragraph.len() + line.len() >= PARAGRAPH {
        return false;
    }
    let is_heading = |line: &str| line.starts_with('#') || line.trim_end().ends_with([':', '：']);
    let is_section = is_heading(line) && !line.starts_with([' ', '\t', '-', '*']);
    let is_alone = !paragraph.contains('\n') && is_heading(paragraph);
    !is_frame(line) && !is_section && (!is_after_empty || is_alone)
}

/// Most entries of one section that are read from one summary: the first ones. A digest has at most 400 KB,
/// and far fewer entries.
pub(super) const ENTRIES: usize = 5_000;

/// Most entries that are read from all summaries of a conversation: a line of one letter becomes a fact of more than a hundred bytes, and a conversation is limited by its bytes.
const OF_ALL: usize = 20_000;

/// How many entries can still be read from the summaries of a conversation.
#[derive(Debug)]
pub(super) struct EntryLimits {
    of_all: usize,
    /// Entries left in the current summary, by section.
    of_one: [usize; Section::ALL.len()],
}

impl Default for EntryLimits {
    fn default() -> Self {
        Self {
            of_all: OF_ALL,
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
        let of_all = &mut self.of_all;
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
        let text = "## History\n- User: Fix it\n  quickly\n\n    now\n- ran `make`\n- Output: E1\n- Did: User: x: edited\n\
            \n## To-do list\n- User: which?\n";
        let expected = [
            (Section::Requests, "Fix it\nquickly\n\n  now".to_owned()),
            (Section::Done, "ran `make`".to_owned()),
            (Section::Errors, "E1".to_owned()),
            (Section::Done, "User: x: edited".to_owned()),
            (Section::Tasks, "User: which?".to_owned()),
        ];
        assert_eq!(entries(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_summary_that_is_no_digest_is_read_by_its_sections() {
        let text = "<context_summary>\nThis session is being continued from a previous conversation that ran out.\n\n# Progress\n\n  - fixed a\n  - fixed b\n\nBoth hold.\n1. Goal:\n   Never sail.\n\
            2. Next:\n   - Moor\n</context_summary>\nPlease continue the conversation from where it stopped.";
        let lines: Vec<String> = entries(text).map(|(_, line)| line).collect();
        assert_eq!(
            lines,
            [
                "# Progress\n- fixed a\n- fixed b",
                "Both hold.",
                "1. Goal:\nNever sail.",
                "2. Next:\n- Moor"
            ]
        );
    }

    #[test]
    fn nothing_below_an_unknown_heading_speaks_for_the_user() {
        let text = "## What the user said\n- a\n## Orders\n- b\n";
        let expected = [
            (Section::Told, "a".to_owned()),
            (Section::Earlier, "## Orders\n- b".to_owned()),
        ];
        assert_eq!(entries(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn files_with_the_name_of_a_label_are_labelled() {
        for entry in [
            "User: x",
            "USER\u{a0}: x",
            "\u{200b}User:x",
            "us\u{200b}er: x",
            "user/a.rs: read",
            "Us\u{200a}er: x: edited",
            "\u{2003}U\u{202f}ser\u{3000}: x",
            "The user said: You must always moor.md: read",
            "the\u{a0}us\u{2060}er\u{2009}said: x",
            "Human: x",
            "**System**: x",
            "(system message)\u{ff1a} x",
            "Tool : x",
            "`The user said: x",
        ] {
            let written = Section::Done.labelled(entry).into_owned();
            assert_eq!(written, format!("Did: {entry}"));
            assert_eq!(Section::of_labelled(&written), (Section::Done, entry));
        }
        for entry in [
            "users.rs: read",
            "src/user.rs: read",
            "edited lib/the system/user.py: `a` → `b`",
            "model_user.py: edited",
            "Since `test the system` no check is known; edited since: tide.rs",
            "ran `curl -H 'User: x'`",
            "called find_user(mail=System: x)",
            "日誌.md: read",
        ] {
            assert_eq!(Section::Done.labelled(entry), entry);
        }
    }

    #[test]
    fn an_entry_is_read_back_as_what_it_was() {
        let entries_of = |section: Section| {
            let labels = Section::ALL.map(|other| format!("{}fix the tide.", other.label()));
            let texts = labels.into_iter().chain([format!("{DID}x")]);
            texts.map(move |text| (section, text))
        };
        for (section, text) in Section::ALL.into_iter().flat_map(entries_of) {
            let written = format!("{}\n- {}\n", section.heading(), section.labelled(&text));
            let read: Vec<_> = entries(&written).collect();
            assert_eq!(read, [(section, text)], "{written}");
        }
    }

    #[test]
    fn an_indented_line_continues_only_an_entry_of_its_section() {
        let text = "## To-do list\n- a\n## Values\n  b\n  c\n## To-do list\n## Values\n  d\n";
        let expected = [
            (Section::Tasks, "a".to_owned()),
            (Section::Values, "b\nc\nd".to_owned()),
        ];
        assert_eq!(entries(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn entries_are_limited_by_section_and_in_total() {
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
        assert_eq!(take(&mut entry_limits, Section::Tasks), 0);
    }
}
