//! Lines that mention an error, and outputs of programs that failed.

use super::any_word::AnyWord;
use super::text;
use baler_provenance::json_members::{self, Value};

/// Words of a line that mentions an error, in any case.
static SIGNS: AnyWord<6> = AnyWord::new([
    "error",
    "exception",
    "traceback",
    "failed",
    "fatal",
    "panicked",
]);

/// What precedes the code with which a program ended, within [`EXIT`] bytes of either end of the output.
static EXITS: AnyWord<11> = AnyWord::new([
    "exit code",
    "exit_code",
    "exitcode",
    "exit status",
    "return code",
    "returncode",
    "exited with",
    "failed with code",
    "finished with code",
    "ended with code",
    "terminated with code",
]);

/// Words that may be between the two: `exited with a non-zero status code 1`.
const BETWEEN: [&str; 9] = [
    "a", "an", "non", "zero", "nonzero", "error", "exit", "status", "code",
];
const EXIT: usize = 200;

/// Members of JSON that hold this code, in any case, and members that may contain them.
const EXIT_MEMBERS: [&str; 4] = ["exit_code", "exitcode", "return_code", "returncode"];
const WITHIN: [&str; 2] = ["metadata", "outcome"];

/// What an output says of a program that was stopped at a time limit. The program's own output may follow.
const TIMEOUT: &str = "timed out";

/// Most bytes of a line.
const LIMIT: usize = 2_000;

/// Most lines of one text, from the end, where it says what went wrong.
const LINES: usize = 8;

/// Returns the last lines of `text` that mention an error, the last one first.
pub(super) fn lines(text: &str) -> Vec<String> {
    lines_that(text, |_| true)
}

/// Returns the last lines of `text` that mention an error and are accepted, the last one first.
pub(super) fn lines_that(text: &str, accepts: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = last_sign(rest.as_bytes()) {
        let start = rest[..at].rfind('\n').map_or(0, |line| line + 1);
        let end = rest[at..].find('\n').map_or(rest.len(), |end| at + end);
        let line = &rest[start..end];
        let trimmed = line.trim();
        let indent = line.len() - line.trim_start().len();
        let line = text::around(trimmed, (at - start).saturating_sub(indent), LIMIT);
        if !is_code_of_file(&line) && accepts(&line) && !found.contains(&line) {
            found.push(line);
        }
        if found.len() == LINES {
            break;
        }
        rest = &rest[..start];
    }
    found
}

/// Whether a line only announces the calls that led to an error.
pub(super) fn begins_a_trace(line: &str) -> bool {
    line.trim() == "Traceback (most recent call last):"
}

/// Whether a line mentions an error, and is not one of a file as tools list it: what stands there did not happen.
pub(super) fn is_mentioned(line: &str) -> bool {
    last_sign(line.as_bytes()).is_some() && !is_code_of_file(line)
}

/// How test runners end the line of a test that passed, whatever its name, and words that its name does not have.
const PASSED: [&str; 2] = [" ... ok", " PASSED"];
const NOT_PASSED: [&str; 2] = ["ERROR", "FAILED"];

/// Whether a line is one of a listed file or of a test that passed, declares a function (`func Tide() error {`), or is a
/// statement of source code: `return fmt.Errorf("no tide")`.
fn is_code_of_file(line: &str) -> bool {
    const DECLARES: [&str; 5] = ["func ", "fn ", "function ", "def ", "class "];
    is_listed(line)
        || PASSED.iter().any(|end| without_share(line).ends_with(end))
            && !NOT_PASSED.iter().any(|word| line.contains(word))
        || line.trim_end().ends_with('{') && DECLARES.iter().any(|word| line.contains(word))
        || is_statement(line)
}

/// Returns a line without the share of tests that have run: `[ 50%]`.
fn without_share(line: &str) -> &str {
    let line = line.trim_end();
    let share = line
        .strip_suffix("%]")
        .and_then(|line| line.rsplit_once('['));
    share.map_or(line, |(line, _)| line.trim_end())
}

/// Whether a line is a statement of source code by how it begins and ends: a branch, the value or the error that a function
/// returns, or a call that is assigned to a variable.
fn is_statement(line: &str) -> bool {
    const BRANCHES: [&str; 7] = [
        "if ", "elif ", "else if ", "except ", "catch ", "while ", "} ",
    ];
    let line = line.trim();
    if begins_with_error_word(line) {
        return false;
    }
    if BRANCHES.iter().any(|word| line.starts_with(word)) {
        let is_condition = line.starts_with("if (") && line.ends_with(')');
        return is_condition || line.ends_with(['{', ':']);
    }
    let declared = ["const ", "let ", "var "]
        .iter()
        .find_map(|word| line.strip_prefix(word));
    if let Some(value) = line
        .strip_prefix("return ")
        .or_else(|| line.strip_prefix("throw "))
    {
        return is_call(value) || line.ends_with(';');
    }
    let assigned = declared.unwrap_or(line);
    let assigned = assigned
        .split_once(" := ")
        .or_else(|| assigned.split_once(" = "));
    assigned.is_some_and(|(variable, value)| {
        let is_variable = variable.split(", ").all(|name| {
            let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_.[]".contains(c);
            !name.is_empty() && name.chars().all(is_of_name)
        });
        declared.is_some() || is_variable && is_call(value)
    })
}

/// Whether a text begins with a call: `fmt.Errorf(`, `new Error(`.
fn is_call(text: &str) -> bool {
    let text = ["new ", "await "]
        .iter()
        .find_map(|word| text.strip_prefix(word))
        .unwrap_or(text);
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "_.:&".contains(c)));
    end.is_some_and(|end| end > 0 && text[end..].starts_with('('))
}

/// Whether a line of `text` is `error`, as [`lines`] returns it.
pub(super) fn has_line(text: &str, error: &str) -> bool {
    text.lines().any(|line| is_line(line, error))
}

/// Whether a line is `error`, as [`lines`] returns it.
pub(super) fn is_line(line: &str, error: &str) -> bool {
    let line = line.trim();
    // Cleaning a line changes its characters and never their number.
    let count = |text: &str| text.chars().count();
    line == error
        || line.len() >= error.len() && count(line) == count(error) && text::clean(line) == error
}

/// Whether a line is one of a file as tools list it, with its number, or as searches do: `src/a.rs:80:    throw error;`.
fn is_listed(line: &str) -> bool {
    if without_number(line).is_some() {
        return true;
    }
    let line = line.trim_start();
    let word = line.split(char::is_whitespace).next().unwrap_or_default();
    let word = &word[..word.floor_char_boundary(PATH)];
    if behind_number(line, ':').is_some_and(is_code) {
        return !is_diagnostic(line);
    }
    // Of lines around a match, only indented ones can be distinguished from dates and names.
    if behind_number(line, '-')
        .is_some_and(|behind| behind.starts_with(['\t', ' ']) && is_code(behind))
    {
        return true;
    }
    let Some(dot) = word.find(['.', '/']) else {
        return false;
    };
    // Lines around a match have `-` in place of `:`.
    let signs = word[dot..].match_indices([':', '-']);
    let mut places = signs.map(|(at, sign)| (dot + at, sign));
    let found = places.find_map(|(at, sign)| {
        let name = word[..at].rsplit('/').next().unwrap_or_default();
        let is_file = name.contains('.') && !name.contains([':', '[']);
        let sign = if sign == ":" { ':' } else { '-' };
        let behind = behind_number(&line[at + 1..], sign)?;
        is_file.then_some(behind)
    });
    found.is_some_and(is_code) && !is_diagnostic(line)
}

/// Most bytes of a path before the number of a line.
const PATH: usize = 240;

/// Returns what stands behind a number and this sign.
fn behind_number(text: &str, sign: char) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix(sign).filter(|_| rest.len() < text.len());
    rest.filter(|rest| !rest.is_empty())
}

/// Whether what stands behind the number of a line is the line of a file. What reports something writes a column or one
/// space there, and dates go on with a number.
fn is_code(behind: &str) -> bool {
    !behind.starts_with(|c: char| c.is_ascii_digit())
        // Ruby: `app.rb:3:in 'divide': divided by 0 (ZeroDivisionError)`.
        && !behind.starts_with("in ")
        && (!behind.starts_with(' ') || behind[1..].starts_with([' ', '\t']))
}

/// Whether a line that mentions an error begins like one, after a date, a path or the name of what reports
/// it. Source code rarely does.
pub(super) fn begins_like_an_error(line: &str) -> bool {
    if is_listed(line) {
        return false;
    }
    if is_diagnostic(line) {
        return true;
    }
    if begins_with_error_word(line) {
        return !line.ends_with([',', ';']);
    }
    let is_named = is_named(line);
    // Most lines have none of the words below.
    if !is_named && !SIGNS.are_in(line) {
        return false;
    }
    let lower = line.trim_start().to_ascii_lowercase();
    if is_source(&lower) {
        return false;
    }
    // `KeyError: 'id'`, `a.rs:4:1: error: …`, `test sums ... FAILED`, `assertion failed: …`.
    is_named
        || [
            "error: ",
            "exception: ",
            "fatal: ",
            "failed: ",
            "panicked at",
        ]
        .iter()
        .any(|sign| lower.contains(sign))
        || line.contains("FAILED")
        || line.contains("ERROR")
}

/// Whether a line begins with a word for an error, as what is reported does.
fn begins_with_error_word(line: &str) -> bool {
    const STARTS: [&str; 8] = [
        "error",
        "fatal",
        "panicked",
        "traceback",
        "exception",
        "failed",
        "failure",
        "e  ",
    ];
    let line = line.trim_start();
    STARTS.iter().any(|start| {
        let head = line.get(..start.len());
        let rest = head
            .filter(|head| head.eq_ignore_ascii_case(start))
            .map(|_| &line[start.len()..]);
        rest.is_some_and(|rest| {
            // Columns of a declaration: `Failed   map[Kind]string`.
            let is_declared = *start == "failed" && rest.starts_with("  ");
            rest.starts_with([':', '[', ' ', '('])
                && !rest.trim_start().starts_with(['=', '.'])
                && !is_declared
        })
    })
}

/// Whether a line begins with the full name of a class of errors and says something of it, as traces of Python and Java end:
/// `quay.berths.BerthNotFound: all are taken`. Logs begin with the names of other classes.
fn is_named(line: &str) -> bool {
    let Some((module, class)) = before_colon(line).and_then(|name| name.rsplit_once('.')) else {
        return false;
    };
    let is_word = |word: &str| {
        let begins = word.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        begins
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    module.split('.').all(is_word)
        && class.starts_with(|c: char| c.is_ascii_uppercase())
        && CLASSES.iter().any(|end| class.ends_with(end))
        && class.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns what precedes the first `: ` of a line.
fn before_colon(line: &str) -> Option<&str> {
    // A single sign is found faster, and most lines have none.
    let colon = line.find(':')?;
    let at = line[colon..].find(": ")?;
    Some(&line[..colon + at])
}

/// What the names of classes of errors end with.
const CLASSES: [&str; 10] = [
    "Error",
    "Exception",
    "Warning",
    "Failure",
    "Failed",
    "Impossible",
    "NotFound",
    "Missing",
    "Conflict",
    "Timeout",
];

/// Whether a line is what compilers and linters say of a place in a file: `src/a.rs:4:1: E226 missing space`.
fn is_diagnostic(line: &str) -> bool {
    let mut fields = line.trim().splitn(4, ':');
    let path = fields.next().unwrap_or_default();
    let is_path = path.contains(['.', '/']) && !path.contains(char::is_whitespace);
    let mut is_number = || {
        let field = fields.next().unwrap_or_default();
        !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_path || !is_number() || !is_number() {
        return false;
    }
    let says = fields.next().and_then(|says| says.strip_prefix(' '));
    // Searches list source code with the same numbers.
    says.is_some_and(|says| {
        !says.starts_with(char::is_whitespace) && !is_source(&says.to_ascii_lowercase())
    })
}

/// Whether a line, in lower case, is one of source code by its beginning or its end.
fn is_source(lower: &str) -> bool {
    const STARTS: [&str; 10] = [
        "//", "const ", "let ", "var ", "return ", "if (", "throw ", "import ", "export ", "} ",
    ];
    let has_signs = || lower.contains(['(', '{', '=', '"', '\'', ';']);
    lower.ends_with(['{', ';', ',', '('])
        || STARTS.iter().any(|start| lower.starts_with(start)) && has_signs()
}

/// Returns a line for a failure of which no line mentions an error: the last line about a time limit, or else
/// the last line with words other than the program's exit code.
pub(super) fn last_line(text: &str) -> Option<String> {
    let says = |line: &&str| {
        line.chars().any(char::is_alphanumeric)
            && !(line.len() <= EXIT && exited_with_failure(line))
            && !says_no_error(line)
    };
    let mut lines = text.lines().rev().map(str::trim).filter(says);
    let is_timeout = |line: &&str| line.to_ascii_lowercase().contains(TIMEOUT);
    let line = lines.clone().find(is_timeout).or_else(|| lines.next())?;
    Some(text::around(line, 0, LIMIT))
}

/// Returns the exit code of a program if an output is a JSON object that has it as a member, or within its
/// `metadata` or `outcome`. The rest of the object may be missing.
#[must_use]
pub fn exit_code(output: &str) -> Option<i64> {
    json_members::of(output).find_map(|(key, value)| match value {
        Value::Nested(inner) if WITHIN.contains(&key) => {
            json_members::of(inner).find_map(|(key, value)| code(key, value))
        }
        _ => code(key, value),
    })
}

fn code(key: &str, value: Value<'_>) -> Option<i64> {
    let (Value::Plain(code) | Value::Text(code)) = value else {
        return None;
    };
    EXIT_MEMBERS
        .iter()
        .any(|name| name.eq_ignore_ascii_case(key))
        .then(|| code.parse().ok())
        .flatten()
}

/// Whether an output says, near one of its ends, that a program ended with another code than 0.
pub(super) fn exited_with_failure(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(EXIT)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(EXIT))..];
    [head, tail].into_iter().any(|part| {
        EXITS.places(part.as_bytes()).any(|(at, bytes)| {
            // The words are ASCII, so what follows is text again.
            behind_words(&part[at + bytes..]).starts_with(|c: char| c.is_ascii_digit() && c != '0')
        })
    })
}

/// Skips the words of [`BETWEEN`] that a text begins with, on the same line.
fn behind_words(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '\n');
        let end = rest.find(|c: char| !c.is_alphanumeric());
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        if !BETWEEN.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            return rest;
        }
        rest = behind;
    }
}

/// Whether a line mentions errors only to say that there were none.
pub(super) fn says_no_error(line: &str) -> bool {
    last_sign(line.as_bytes()).is_none() && signs(line.as_bytes()).next().is_some()
}

/// Returns where the last word for an error begins.
fn last_sign(text: &[u8]) -> Option<usize> {
    signs(text).rev().find(|at| !is_of_none(text, *at))
}

/// Iterates where words for errors begin.
fn signs(text: &[u8]) -> impl DoubleEndedIterator<Item = usize> {
    let places = SIGNS.places(text);
    places.filter_map(|(at, bytes)| ends_word(&text[at + bytes..]).then_some(at))
}

/// Whether a word for an error ends before `rest`, or with an ending as in `errors`, `errored` and Italian `errore`:
/// `exceptiongroup` is not an error.
fn ends_word(rest: &[u8]) -> bool {
    let letters = rest.iter().take(ENDING + 1);
    letters.take_while(|byte| byte.is_ascii_lowercase()).count() <= ENDING
}

/// Most letters of an ending.
const ENDING: usize = 2;

/// Whether a word for an error says that there were none: `79 passed; 0 failed`, but not `10 failed` nor
/// `version 1.0 failed`.
fn is_of_none(text: &[u8], at: usize) -> bool {
    let before = text[..at].strip_suffix(b"0 ");
    let is_apart = |byte: &u8| !byte.is_ascii_digit() && *byte != b'.';
    before.is_some_and(|before| before.last().is_none_or(is_apart))
}

/// Returns a line of a file without the number that tools list it with: `  80→    throw error;`. `None` if it has none.
fn without_number(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let behind = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = behind.strip_prefix(['→', '\t', '|'])?;
    (behind.len() < line.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_line_comes_first() {
        let text = "Traceback (most recent call last):\n  File \"a.py\"\n  KeyError: 'id'  \n1 FAILED, 2 passed\nok\n";
        assert_eq!(
            lines(text),
            [
                "1 FAILED, 2 passed",
                "KeyError: 'id'",
                "Traceback (most recent call last):"
            ]
        );
        assert!(lines("all is well").is_empty());
    }

    #[test]
    fn lines_of_listed_files_mention_no_error() {
        for listed in [
            "   80→    throw error;",
            "  80\tthrow error;",
            "80:\tthrow error",
            "src/tide.go:80:func Tide() error {",
            "src/tide.go:80:\tTide() error",
            "src/low-tide.go-81-\t\treturn fmt.Errorf(\"no tide\")",
            "154-\t\treturn fmt.Errorf(\"failed to moor: %w\", err)",
            "        line = str(line, errors=\"replace\")",
            "    return fail(`Failed to moor: ${error.message}`);",
            "err := errors.New(\"no tide\")",
            "      if (tideError) {",
            "const error = await moor();",
            "tide, err = self.moor(failed)",
            "    except NoTideError as error:",
        ] {
            assert!(!is_mentioned(listed), "{listed}");
            assert!(lines(listed).is_empty(), "{listed}");
            assert!(!begins_like_an_error(listed), "{listed}");
        }
        assert!(!is_mentioned("func Tide() error {"));
        for reported in [
            "Error: no tide {",
            "src/tide.py:80: TypeError",
            "src/tide.rs:4:1: error: no tide",
            "2026-11-27 ERROR no tide",
            "10:15:01 ERROR no tide",
            "80: error",
            "a-1.0-x.py: error: no tide",
            "check of the FAILED gate PASSED",
            "lib/tide-2-1.so: error: no tide",
            "app.rb:3:in `divide': divided by 0 (ZeroDivisionError)",
            "tests/test_a.py::test_b[foo-1-bar] FAILED",
            "/tmp/build-2-linux/a.c:4:1: error: x",
            "/srv/0f3a-4123-a456-0b/a.c:4:1: error: x",
            "docker.io/python:3-slim: error: no tide",
            "[Error: ENOENT: no such file] {",
            "TypeError: fetch failed {",
            "3 errors",
            "154-a failed",
            "return code 2: error",
            "state = failed",
            "[ERROR] code = 13 (permission denied)",
            "Last error = 0x80070005 (Access is denied)",
            "status = FAILED (exit code 3)",
            "return code = 2, fatal error",
            "import failed: no module named tide (main.py)",
            "while connecting: fatal: password failed (28P01)",
            "//quay/lock:lock_test FAILED in 3 out of 3 (timeout=60s)",
        ] {
            assert!(is_mentioned(reported), "{reported}");
        }
    }

    #[test]
    fn a_line_that_counts_zero_errors_mentions_none() {
        for none in [
            "test result: ok. 79 passed; 0 failed; 0 ignored",
            "build: 0 errors, 3 warnings",
            "0 Failed",
        ] {
            assert!(!is_mentioned(none) && says_no_error(none), "{none}");
            assert!(lines(none).is_empty(), "{none}");
        }
        for some in [
            "test result: FAILED. 69 passed; 10 failed; 0 errors",
            "version 1.0 failed",
            "0 tests, error: no such file",
        ] {
            assert!(is_mentioned(some) && !says_no_error(some), "{some}");
            assert_eq!(lines(some), [some]);
        }
        assert!(!says_no_error("No seats left on BX71."));
        let text = "E 3\ntest result: ok. 79 passed; 0 failed";
        assert_eq!(last_line(text).as_deref(), Some("E 3"));
    }

    #[test]
    fn lines_of_source_code_are_told_from_errors() {
        for error in [
            "Import failed: column gate_no is missing",
            "return code 2, fatal: no such berth",
            "Error: unexpected token {",
            "KeyError: 'id'",
        ] {
            assert!(begins_like_an_error(error), "{error}");
        }
        for source in [
            "error: error,",
            "const { data, error: gate } = await open()",
            "return fail(`failed: ${error.message}`)",
            "import { error as fatal } from 'ERROR'",
        ] {
            assert!(!begins_like_an_error(source), "{source}");
        }
    }

    #[test]
    fn a_failure_without_an_error_line_has_its_last_line() {
        let text = "3 seats asked for\nNo seats left on BX71.\nexit code: 3\n\n";
        assert_eq!(last_line(text).as_deref(), Some("No seats left on BX71."));
        assert_eq!(last_line("exit code: 3\n---\n"), None);
        let text =
            "Exit code: 124\nOutput:\ncommand timed out after 120000 milliseconds\nstep 1 done";
        assert_eq!(
            last_line(text).as_deref(),
            Some("command timed out after 120000 milliseconds")
        );
    }

    #[test]
    fn source_code_does_not_begin_like_an_error() {
        for error in [
            "error[E0308]: mismatched types",
            "KeyError: 'id'",
            "test sums ... FAILED",
            "src/a.rs:4:1: error: expected `;`",
            "assertion failed: total is 41",
            "bench/tide.py:399:58: E226 missing whitespace around operator",
            "quay.berths.BerthNotFound: [Wanted('a<2')]",
        ] {
            assert!(begins_like_an_error(error), "{error}");
        }
        for code in [
            "  12→    if error == nil {",
            "const error = new Error(message);",
            "// error: never thrown,",
            "handleError(response)",
            "Failed   map[Kind]string",
            "src/tide.rs:12: let error = 1;",
            "src/tide.rs:12:9:    let tide = 1;",
            "src/tide.rs:12:1: let tide = 1;",
            "07:14:31: the tide rises",
            "README.md: the tide rises",
            "quay.moor: the tide rises",
            "org.quay.Berth: started",
        ] {
            assert!(!begins_like_an_error(code), "{code}");
        }
    }

    #[test]
    fn a_word_that_only_begins_like_one_for_errors_is_none() {
        for none in ["exceptiongroup>=1.0 is there", "errorlevel"] {
            assert!(!is_mentioned(none), "{none}");
        }
        for some in [
            "KeyErrors",
            "it errored",
            "error_count",
            "TIDE_ERROR",
            "EXCEPTIONS:",
            "errore CS0103: manca",
        ] {
            assert!(is_mentioned(some), "{some}");
        }
    }

    #[test]
    fn a_repeated_line_counts_once() {
        assert_eq!(lines(&"error: no\n".repeat(1_000)), ["error: no"]);
    }

    #[test]
    fn an_exit_code_shows_whether_a_program_failed() {
        for text in [
            "<returncode>1</returncode>\n…",
            "done\nExit code: 101\n",
            r#"{"exit_code": 2}"#,
            "Chunk ID: a1\nWall time: 1.2 seconds\nProcess exited with code 1\nOutput:\n…",
            "…\n\nCommand exited with code 2",
            "[exited with code 1]\n…",
            "Command failed with code 1\n…",
            "Command exited with non-zero code 1: …",
            "exited with a non-zero exit status: -7",
        ] {
            assert!(exited_with_failure(text), "{text}");
        }
        for text in [
            "",
            "exit code 0",
            "exit code\n1 file",
            "see exit status",
            "Process exited with code 0",
            "exited with code\n1 file",
            "exited with a code of 3 letters",
            "a task that failed with codes 1 and 2",
            &format!("日exit code: 1{}", "日".repeat(500)),
        ] {
            let expected = text.starts_with('日');
            assert_eq!(exited_with_failure(text), expected, "{text}");
        }
    }

    #[test]
    fn an_exit_code_is_found_in_json_with_other_members() {
        let long = "x\\n".repeat(200);
        for (text, expected) in [
            (
                format!(r#"{{"output":"{long}","metadata":{{"exit_code":137}}}}"#),
                Some(137),
            ),
            (
                format!("{{\n \"exitCode\": -1,\n \"stdout\": \"{long}"),
                Some(-1),
            ),
            (
                format!(r#"{{"stdout":"{long}","returncode":"2"}}"#),
                Some(2),
            ),
            (r#"{"return_code":0}"#.to_owned(), Some(0)),
            (r#"{"type":"exit","exit_code":1}"#.to_owned(), Some(1)),
            (
                r#"{"outcome":{"type":"exit","exit_code":1}}"#.to_owned(),
                Some(1),
            ),
            (
                r#"{"exit_code":null,"output":"exit_code: 3"}"#.to_owned(),
                None,
            ),
            (
                r#"{"rows":[{"exit_code":1}],"data":{"exit_code":1}}"#.to_owned(),
                None,
            ),
            ("exit_code: 1".to_owned(), None),
        ] {
            assert_eq!(exit_code(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_without_end_is_cut_around_the_error() {
        let text = format!(
            "{}fatal: disk full{}",
            "日".repeat(100_000),
            "x".repeat(100_000)
        );
        let found = lines(&text);
        assert_eq!(found.len(), 1);
        assert!(found[0].len() <= LIMIT && found[0].contains("fatal: disk full"));
    }
}
