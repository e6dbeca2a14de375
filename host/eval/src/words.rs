//! What the judge takes for a sentence, for an error, and for the user's own words. It reads by itself: were it to ask the
//! strategies' code, a mistake there would be none here.

/// Returns a text on one line, with one space between words.
pub(crate) fn on_one_line(text: &str) -> String {
    let is_gap = |c: char| c.is_whitespace() || c.is_control();
    let words: Vec<&str> = text.split(is_gap).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Returns a text in lower case, with one space for each run of characters other than letters and digits, for comparison.
pub(crate) fn normalize(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Returns a text of the user's role without what programs put into it: blocks in tags whose names people do not use in
/// prose (`<system-reminder>`, `<environment_context>`), from the beginning of a line on. A tag that is never closed takes all
/// that follows.
pub(crate) fn users_words(text: &str) -> String {
    let mut own = String::new();
    let mut rest = text;
    while let Some((before, name)) = next_block(rest) {
        own.push_str(&rest[..before]);
        let closing = format!("</{name}>");
        rest = match rest[before..].rfind(&closing) {
            Some(at) => &rest[before + at + closing.len()..],
            None => "",
        };
    }
    own.push_str(rest);
    own
}

/// Returns where the next block of a program begins, and the name of its tag.
fn next_block(text: &str) -> Option<(usize, &str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        let Some(tag) = line.trim_start().strip_prefix('<') else {
            continue;
        };
        let end = tag.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
        let name = &tag[..end.unwrap_or(tag.len())];
        if name.contains(['-', '_']) && tag[name.len()..].starts_with(['>', ' ']) {
            return Some((start, name));
        }
    }
    None
}

/// Calls `emit` with each sentence of a text of a person. Text between fences and quoted lines are left out.
pub(crate) fn each_sentence(text: &str, emit: &mut dyn FnMut(&str)) {
    let mut is_fenced = false;
    let mut paragraph = String::new();
    for line in text.lines().chain([""]) {
        let trimmed = line.trim();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        is_fenced ^= is_fence;
        let is_item = trimmed.starts_with(['-', '*', '#', '>', '|'])
            || trimmed.split_once(['.', ')']).is_some_and(|(number, _)| {
                !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
            });
        // What an item belongs to.
        let goes_on = is_item && paragraph.ends_with(':');
        if trimmed.is_empty() || is_fence || is_fenced || (is_item && !goes_on) {
            split(&paragraph, emit);
            paragraph.clear();
        }
        if is_fence || is_fenced || trimmed.starts_with('>') {
            continue;
        }
        if !paragraph.is_empty() {
            paragraph.push(' ');
        }
        let bare = trimmed.trim_start_matches(['-', '*', '#', ' ']);
        paragraph.push_str(if goes_on { trimmed } else { bare });
    }
}

fn split(paragraph: &str, emit: &mut dyn FnMut(&str)) {
    let mut start = 0;
    let mut chars = paragraph.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = match c {
            '。' | '！' | '？' => true,
            '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            // Not after an abbreviation.
            '.' => {
                let behind = paragraph[at + 1..].trim_start();
                let is_apart = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
                is_apart && !behind.starts_with(char::is_lowercase)
            }
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            emit(paragraph[start..end].trim());
            start = end;
        }
    }
    if !paragraph[start..].trim().is_empty() {
        emit(paragraph[start..].trim());
    }
}

/// Whether a line of output reports an error as programs do: it begins like a report of one, names an error before a colon,
/// or ends as shells and systems end theirs. Source code that speaks of errors, prose and counts do not.
pub(crate) fn reports_error(line: &str) -> bool {
    const BEGINNINGS: [&str; 11] = [
        "error[",
        "fatal:",
        "panic:",
        "failed ",
        "traceback (",
        "npm err!",
        "e   ",
        "fehler",
        "erreur",
        "错误",
        "エラー",
    ];
    const ENDS: [&str; 4] = [
        "command not found",
        "no such file or directory",
        "permission denied",
        "not recognized as an internal or external command",
    ];
    let lower = line.trim().to_lowercase();
    if lower.ends_with(['{', ';', ',']) {
        return false;
    }
    BEGINNINGS.iter().any(|begin| lower.starts_with(begin))
        || ENDS.iter().any(|end| lower.ends_with(end))
        || lower.contains("' panicked at ")
        || names_error(&lower)
}

/// Whether an error stands before a colon, behind nothing but a place, a time or names: `src/a.rs:4:1: error: no berth`,
/// `KeyError: 'tariff'`.
fn names_error(lower: &str) -> bool {
    const KINDS: [&str; 5] = ["error", "exception", "failure", "failed", "fatal"];
    let ends_head = |c: char| "\"`=<${|→'".contains(c);
    let head = lower.split(ends_head).next().unwrap_or_default();
    let colons = head.match_indices(':').take_while(|(at, _)| *at < 100);
    let mut before = colons.map(|(at, _)| &head[..at]);
    before.any(|before| {
        let before = before
            .split('[')
            .next()
            .filter(|_| before.ends_with(']'))
            .unwrap_or(before);
        let word = before.rsplit([' ', '(', '.']).next().unwrap_or_default();
        KINDS.iter().any(|kind| word.ends_with(kind))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_sentence(text, &mut |sentence| found.push(sentence.to_owned()));
        found
    }

    #[test]
    fn sentences_end_at_their_marks_and_at_items_but_not_in_names() {
        assert_eq!(
            sentences(
                "Never push to v1.2. Use\nthe fork!\n\n- Only TS\n- ask Ilse\n> quoted\n```\ncode.\n```\n本番は触らないで。はい"
            ),
            [
                "Never push to v1.2.",
                "Use the fork!",
                "Only TS",
                "ask Ilse",
                "本番は触らないで。",
                "はい"
            ]
        );
    }

    #[test]
    fn what_programs_put_into_tags_is_not_the_users() {
        let text = "Fix it.\n<system-reminder>\nNever stop.\n</system-reminder>\nThen rest.";
        assert_eq!(on_one_line(&users_words(text)), "Fix it. Then rest.");
        let program = "<environment_context><cwd>/srv</cwd></environment_context>";
        assert_eq!(users_words(program), "");
        let prose = "Use <b>bold</b> and <task> here";
        assert_eq!(users_words(prose), prose);
    }

    #[test]
    fn errors_are_lines_that_report_one() {
        for line in [
            "error: no berth 19",
            "E   KeyError: 'tariff'",
            "KeyError: 'tariff'",
            "src/tariff.rs:4:1: error[E0425]: no such name",
            "bash: rg: command not found",
            "thread 'main' panicked at src/main.rs:3:5:",
            "Fehler beim Lesen",
        ] {
            assert!(reports_error(line), "{line}");
        }
        for line in [
            "test result: ok. 3 passed; 0 failed",
            "    12\tfn error(&self) -> Error {",
            "return nil, fmt.Errorf(\"failed to get HEAD: %w\", err)",
            "print(\"FAILURE: it is not empty\")",
            "Error handling is part of chapter 4",
            "done",
        ] {
            assert!(!reports_error(line), "{line}");
        }
    }
}
