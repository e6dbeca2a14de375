//! What a file says about itself, as it was read: lines that declare something, and reasons and rules in its comments.

use std::collections::BTreeSet;

use super::changes::file;
use super::decisions;
use super::rules;
use super::scan;
use super::sentences::each_sentence;
use super::text;

/// What each entry begins with.
const IN: &str = "in ";

/// Most bytes of an output that are looked at.
const READ: usize = 64 << 10;

/// Most bytes of a declaration, and entries of one output from which on no more lines are read.
const LINE: usize = 100;
const LINES: usize = 12;

/// Fewest and most bytes of a sentence in a comment, and most of one output.
const SENTENCE: std::ops::RangeInclusive<usize> = 40..=200;
const SENTENCES: usize = 3;

/// Fewest and most bytes of the sentence that says what a file is for, and its fewest words.
const PURPOSE: std::ops::RangeInclusive<usize> = 15..=120;
const WORDS: usize = 3;

/// Beginnings of lines that declare something.
const DECLARES: [&str; 22] = [
    "export ",
    "pub ",
    "pub(crate) ",
    "fn ",
    "async fn ",
    "struct ",
    "enum ",
    "trait ",
    "impl ",
    "type ",
    "interface ",
    "abstract class ",
    "class ",
    "def ",
    "async def ",
    "function ",
    "async function ",
    "func ",
    "public ",
    "private ",
    "protected ",
    "CREATE TABLE ",
];

/// Beginnings of lines that declare a field, unless they have a list of parameters.
const FIELDS: [&str; 3] = ["public ", "private ", "protected "];

/// Ends of lines after which the declaration goes on.
const OPEN: [char; 5] = ['(', '<', ',', '=', '['];

/// Endings of files with source code, and signs that a line of a comment in them begins with, the longer ones first.
const LANGUAGES: [(&[&str], &[&str]); 3] = [
    (
        &[
            "rs", "ts", "tsx", "js", "jsx", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs",
            "swift", "php", "scala", "dart", "vue", "svelte",
        ],
        &["///", "//!", "//", "/**", "* "],
    ),
    (&["py", "rb", "ex", "exs", "jl"], &["# ", "\"\"\""]),
    (&["sql", "lua", "hs"], &["-- "]),
];

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    /// The path of the file; of an entry of an earlier digest only its name.
    path: String,
    pub(super) line: String,
    pub(super) kind: ContentKind,
}

/// What a line of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentKind {
    /// A declaration.
    Code,
    /// A sentence of a comment that says what the file is for.
    Purpose,
    /// A sentence of a comment that gives a reason or a rule; also any sentence of an earlier digest.
    Reason,
}

impl Content {
    /// Reads an entry of an earlier digest; `None` if it says something else.
    pub(super) fn of_line(line: &str) -> Option<Self> {
        let (file, says) = line.strip_prefix(IN)?.split_once(": ")?;
        let is_code = says.len() > 2 && says.starts_with('`') && says.ends_with('`');
        let is_one =
            !file.contains(char::is_whitespace) && (is_code || SENTENCE.contains(&says.len()));
        is_one.then(|| Self {
            path: file.to_owned(),
            line: line.to_owned(),
            kind: match is_code {
                true => ContentKind::Code,
                false => ContentKind::Reason,
            },
        })
    }

    /// Whether it is about one of these files, each of which is there by its path and by its name.
    pub(super) fn is_of_any(&self, files: &BTreeSet<&str>) -> bool {
        files.contains(&*self.path)
    }
}

/// Returns what the text of a file with source code says about it. Whoever wrote any other text also chose what stands in
/// it, and headings of prose look like comments.
pub(super) fn of(path: &str, text: &str) -> Vec<Content> {
    let name = file(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let mut languages = LANGUAGES.iter();
    let language = languages.find(|(endings, _)| endings.contains(&ending));
    let Some((_, comments)) = language.filter(|_| !path.contains("://")) else {
        return Vec::new();
    };
    let mut reader = Reader {
        path,
        name,
        contents: Vec::new(),
        left: SENTENCES,
        has_no_purpose: true,
    };
    let text = &text[..text.floor_char_boundary(READ)];
    let mut comment = String::new();
    for line in text.lines() {
        let line = without_number(line).unwrap_or(line).trim();
        if let Some(said) = said_in(line, comments) {
            comment.push(' ');
            comment.push_str(said);
            continue;
        }
        reader.read_comment(&comment);
        comment.clear();
        if declares(line) {
            reader.add(format!("`{}`", text::line(line, LINE)), ContentKind::Code);
        }
        if reader.contents.len() >= LINES {
            return reader.contents;
        }
    }
    reader.read_comment(&comment);
    reader.contents
}

/// Collects what one file says.
struct Reader<'t> {
    path: &'t str,
    name: &'t str,
    contents: Vec<Content>,
    /// Sentences of comments that may still be added.
    left: usize,
    has_no_purpose: bool,
}

/// Whether a comment may describe the purpose of its file, and is not about a licence.
fn says_purpose(comment: &str) -> bool {
    const OTHER: [&str; 5] = ["copyright", "licen", "spdx", "generated", "===="];
    let lower = comment.to_ascii_lowercase();
    let words = comment
        .split_whitespace()
        .filter(|word| word.chars().all(char::is_alphabetic));
    words.take(WORDS).count() == WORDS && !OTHER.iter().any(|other| lower.contains(other))
}

impl Reader<'_> {
    fn add(&mut self, says: String, kind: ContentKind) {
        self.contents.push(Content {
            path: self.path.to_owned(),
            line: format!("{IN}{}: {says}", self.name),
            kind,
        });
    }

    /// Adds the first sentence of the first comment, and the sentences of any that give a reason or a rule.
    fn read_comment(&mut self, comment: &str) {
        if comment.trim().is_empty() || self.left == 0 {
            return;
        }
        let mut is_first = self.has_no_purpose && says_purpose(comment);
        self.has_no_purpose &= !is_first;
        each_sentence(comment, &mut |sentence| {
            let is_purpose = std::mem::take(&mut is_first) && PURPOSE.contains(&sentence.len());
            let is_code = || sentence.contains(['{', ';', '=']);
            let says = || decisions::says_why(sentence) || rules::strength(sentence).is_some();
            if self.left > 0 && SENTENCE.contains(&sentence.len()) && !is_code() && says() {
                self.left -= 1;
                self.add(text::line(sentence, *SENTENCE.end()), ContentKind::Reason);
            } else if is_purpose && !is_code() {
                self.add(text::line(sentence, *PURPOSE.end()), ContentKind::Purpose);
            }
        });
    }
}

/// Returns what a line of a comment says; `None` for other lines and for what is written for programs: `@param`.
fn said_in<'t>(line: &'t str, comments: &[&str]) -> Option<&'t str> {
    let said = comments.iter().find_map(|sign| line.strip_prefix(sign))?;
    let said = said.trim().trim_end_matches("*/");
    let said = said.trim_end_matches("\"\"\"").trim_end();
    let is_for_programs = said.starts_with('@') || said.contains("eslint") || said.contains("noqa");
    (!is_for_programs).then_some(said)
}

/// Whether a line declares something by a name, and not only a field or what another file has.
fn declares(line: &str) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    begins(&DECLARES)
        && !line.starts_with("export *")
        && !line.ends_with(OPEN)
        && (!begins(&FIELDS) || line.contains('('))
        && scan::names(line).next().is_some()
}

/// Returns a line of a file without the number that tools list it with: `  80→    throw error;`. `None` if it has none.
pub(super) fn without_number(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let behind = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = behind.strip_prefix(['→', '\t', '|'])?;
    (behind.len() < line.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, output: &str) -> Vec<String> {
        let contents = of(path, output).into_iter();
        contents.map(|content| content.line).collect()
    }

    #[test]
    fn declarations_are_found_with_and_without_numbers() {
        let output = "     1→import { tide } from './tide'\n     2→\n    12→export function fillLock(gate_no: number) {\n    13→  return tide(gate_no)\n";
        assert_eq!(
            lines("src/lock.ts", output),
            ["in lock.ts: `export function fillLock(gate_no: number) {`"]
        );
        let output = "class HeldLock:\n    def fill_up(self):\n        self.x = 1\nclass A:\n";
        assert_eq!(
            lines("a/lock.py", output),
            [
                "in lock.py: `class HeldLock:`",
                "in lock.py: `def fill_up(self):`"
            ]
        );
        let others = "export * from './lock_gate'\nexport function fillLock(\nprivate lockGate: number;\nThe tide_table is due.\n";
        assert!(lines("lock.ts", others).is_empty());
        let many = "def fill_lock(): pass\n".repeat(20);
        assert_eq!(lines("lock.py", &many).len(), LINES);
    }

    #[test]
    fn comments_are_quoted_where_they_give_a_rule_or_a_reason() {
        let output = "/**\n * Fills the lock. It must never\n * be filled while a gate is open.\n * @param gate_no because of the gate, must never be 0\n */\n// eslint-disable-next-line because it must never be\nfill();\n// because = must; never\n";
        assert_eq!(
            lines("src/lock.ts", output),
            [
                "in lock.ts: Fills the lock.",
                "in lock.ts: It must never be filled while a gate is open."
            ]
        );
        let rules = "# Never fill it while a gate of the lock is open.\n\n".repeat(9);
        assert_eq!(lines("lock.py", &rules).len(), SENTENCES);
        for other in [
            "lock.md",
            "README",
            "https://quay.test/lock.py",
            "lock.html",
        ] {
            assert!(lines(other, &rules).is_empty(), "{other}");
        }
    }

    #[test]
    fn the_first_comment_says_what_a_file_is_for() {
        let licence = "// Copyright of the harbour and all of its boats.\n\n";
        let output = format!(
            "{licence}// Keeps the tide tables. Much of it is old.\nx();\n// Fills the lock with water.\n"
        );
        assert_eq!(
            lines("tide.ts", &output),
            ["in tide.ts: Keeps the tide tables."]
        );
        let output = "\"\"\"Keeps the tide tables.\"\"\"\nimport lock\n";
        assert_eq!(
            lines("tide.py", output),
            ["in tide.py: Keeps the tide tables."]
        );
        assert!(lines("tide.ts", "// TODO\n// x = y(); of the lock\n").is_empty());
    }

    #[test]
    fn entries_of_an_earlier_digest_are_recognised() {
        let of_line = |line: &str| Content::of_line(line).map(|content| content.kind);
        assert_eq!(of_line("in lock.ts: `fn fill()`"), Some(ContentKind::Code));
        let says = "It must never be filled while a gate is open.";
        assert_eq!(
            of_line(&format!("in lock.ts: {says}")),
            Some(ContentKind::Reason)
        );
        for other in [
            "ran `make`",
            "in lock.ts: read",
            "in the dark.rs: `fn fill()`",
            "in lock.ts: `",
        ] {
            assert_eq!(of_line(other), None, "{other}");
        }
    }
}
