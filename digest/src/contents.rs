//! What a file says about itself, as it was read: lines that declare something, and reasons and rules in its comments.

use super::changes::file;
use super::decisions;
use super::rules;
use super::scan;
use super::sentences::each_sentence;
use super::text;

/// What each entry begins with.
pub(super) const IN: &str = "in ";

/// Most bytes of an output that are looked at.
const READ: usize = 64 << 10;

/// Most bytes of a declaration, and most of one output.
const LINE: usize = 100;
const LINES: usize = 12;

/// Fewest and most bytes of a sentence in a comment, and most of one output.
const SENTENCE: std::ops::RangeInclusive<usize> = 40..=200;
const SENTENCES: usize = 3;

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

/// Signs that a line of a comment begins with, the longer ones first.
const COMMENTS: [&str; 7] = ["///", "//!", "//", "/**", "* ", "# ", "-- "];

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) line: String,
    /// Whether it is code, and not a sentence of a comment.
    pub(super) is_code: bool,
}

impl Content {
    /// Reads an entry of an earlier digest; `None` if it says something else.
    pub(super) fn of_line(line: &str) -> Option<Self> {
        line.starts_with(IN).then(|| Self {
            line: line.to_owned(),
            is_code: line.ends_with('`'),
        })
    }
}

/// Returns what an output says about the file at `path`.
pub(super) fn of(path: &str, output: &str) -> Vec<Content> {
    let output = &output[..output.floor_char_boundary(READ)];
    let name = file(path);
    let mut contents = Vec::new();
    let mut comment = String::new();
    let mut left = SENTENCES;
    let is_prose = name.ends_with(".md") || name.ends_with(".txt");
    for line in output.lines().map(without_number).filter(|_| !is_prose) {
        if let Some(said) = said_in(line) {
            comment.push(' ');
            comment.push_str(said);
            continue;
        }
        read_comment(name, &comment, &mut left, &mut contents);
        comment.clear();
        if declares(line) {
            contents.push(Content {
                line: format!("{IN}{name}: `{}`", text::line(line, LINE)),
                is_code: true,
            });
        }
        if contents.len() >= LINES {
            break;
        }
    }
    read_comment(name, &comment, &mut left, &mut contents);
    contents
}

/// Adds the sentences of a comment that give a reason or a rule, as many as are `left`.
fn read_comment(name: &str, comment: &str, left: &mut usize, contents: &mut Vec<Content>) {
    if comment.len() < *SENTENCE.start() || *left == 0 {
        return;
    }
    each_sentence(comment, &mut |sentence| {
        let is_code = || sentence.contains(['{', ';', '=']);
        let says = || decisions::says_why(sentence) || rules::strength(sentence).is_some();
        if *left > 0 && SENTENCE.contains(&sentence.len()) && !is_code() && says() {
            *left -= 1;
            contents.push(Content {
                line: format!("{IN}{name}: {}", text::line(sentence, *SENTENCE.end())),
                is_code: false,
            });
        }
    });
}

/// Returns what a line of a comment says; `None` for other lines and for what is written for programs: `@param`.
fn said_in(line: &str) -> Option<&str> {
    let said = COMMENTS.iter().find_map(|sign| line.strip_prefix(sign))?;
    let said = said.trim().trim_end_matches("*/").trim_end();
    let is_for_programs = said.starts_with('@') || said.contains("eslint") || said.contains("noqa");
    (!is_for_programs).then_some(said)
}

/// Whether a line declares something by a name, and not only a field or what another file has.
fn declares(line: &str) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    begins(&DECLARES)
        && !line.starts_with("export *")
        && !line.ends_with(OPEN)
        && !(begins(&FIELDS) && !line.contains('('))
        && scan::names(line).next().is_some()
}

/// Returns a line without the number that a tool writes before it, and without white space around it.
fn without_number(line: &str) -> &str {
    let line = line.trim();
    let behind = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = behind.strip_prefix(['→', '\t', '|', ':']);
    match rest.filter(|_| behind.len() < line.len()) {
        Some(rest) => rest.trim_start(),
        None => line,
    }
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
            ["in lock.ts: It must never be filled while a gate is open."]
        );
        let rules = "# Never fill it while a gate of the lock is open.\n\n".repeat(9);
        assert_eq!(lines("lock.py", &rules).len(), SENTENCES);
        assert!(lines("lock.md", &rules).is_empty());
    }

    #[test]
    fn entries_of_an_earlier_digest_are_recognised() {
        let of_line = |line: &str| Content::of_line(line).map(|content| content.is_code);
        assert_eq!(of_line("in lock.ts: `fn fill()`"), Some(true));
        assert_eq!(of_line("in lock.ts: Never fill it."), Some(false));
        assert_eq!(of_line("ran `make`"), None);
    }
}
