//! Thinking aloud in a model's answer.

/// Returns a model's answer without the thinking in tags at its beginning. `None` if the answer ends before
/// the thinking does. The templates of some models (DeepSeek-R1, Qwen3-Thinking) put the opening tag into the
/// prompt. Then the closing tag alone counts if it stands apart, and not within a sentence about it.
#[must_use]
pub fn after_thinking(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let tags = [("<think>", "</think>"), ("<thinking>", "</thinking>")];
    for (start, end) in tags {
        if let Some(thought) = text.strip_prefix(start) {
            return thought.split_once(end).map(|(_, said)| said);
        }
    }
    let behind = tags
        .iter()
        .find_map(|(start, end)| behind_closing_tag(text, start, end));
    Some(behind.unwrap_or(text))
}

/// Returns what follows the first closing tag that stands apart: alone on its line, or at the end of one
/// before a blank line. `None` if an opening tag comes before it.
fn behind_closing_tag<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let unopened = &text[..text.find(start).unwrap_or(text.len())];
    unopened.match_indices(end).find_map(|(at, _)| {
        let said = &text[at + end.len()..];
        let is_blank = |line: &str| line.trim().is_empty();
        let mut lines = said.lines();
        let ends_line = lines.next().is_none_or(is_blank);
        let has_blank_behind = lines.next().is_some_and(is_blank);
        let begins_line = text[..at].rsplit('\n').next().is_none_or(is_blank);
        (ends_line && (begins_line || has_blank_behind)).then_some(said)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_thinking_removes_thinking_and_nothing_else() {
        for (text, said) in [
            ("We sailed.", Some("We sailed.")),
            ("\n<think>Hm.</think>We sailed.", Some("We sailed.")),
            ("<thinking>Hm.</thinking> Done.", Some(" Done.")),
            ("<think>Hm.</think>", Some("")),
            ("<think>Hm. The first thing", None),
            ("<thinking>Hm.</think>", None),
            ("They wrote <think>.", Some("They wrote <think>.")),
            ("Hm.\n</think>\n\nDone.", Some("\n\nDone.")),
            ("Hm.\r\n </think> \r\nDone.", Some(" \r\nDone.")),
            ("Hm.</think>\n\nDone.", Some("\n\nDone.")),
            ("Hm.\n</thinking>\nDone.", Some("\nDone.")),
            ("Hm.\n</think>", Some("")),
            ("A </think> ends it.", Some("A </think> ends it.")),
            (
                "It ends with </think>\nso.",
                Some("It ends with </think>\nso."),
            ),
            ("It ends with </think>", Some("It ends with </think>")),
            (
                "a\n<think>\nb\n</think>\n",
                Some("a\n<think>\nb\n</think>\n"),
            ),
        ] {
            assert_eq!(after_thinking(text), said, "{text}");
        }
    }
}
