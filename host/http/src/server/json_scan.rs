//! Measures the nesting of a JSON text and counts its items, without parsing it.

use serde::de::IgnoredAny;

/// Counts the lists, objects and commas of a JSON text. In addition to the text's own bytes, they
/// determine the memory that work on it needs. Returns `None` if lists and objects are nested more
/// than `most` levels deep.
pub(crate) fn count_items(json: &[u8], most: usize) -> Option<usize> {
    let (mut depth, mut items) = (0usize, 0usize);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in json {
        if in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b',' => items += 1,
            b'[' | b'{' => {
                items += 1;
                depth += 1;
                if depth > most {
                    return None;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Some(items)
}

/// Does the same for a text that is itself JSON, or a session log with one JSON text on each line. A
/// line that ends within a string does not affect the next line.
pub(crate) fn count_text_items(text: &str, most: usize) -> Option<usize> {
    let text = text.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace());
    // No single line of a JSON text over many lines shows how deep the text is.
    if is_json(text) {
        return count_items(text.as_bytes(), most);
    }
    text.lines().map(|line| count_line_items(line, most)).sum()
}

/// Accepts a damaged line of any depth, since the reader of the log skips it.
fn count_line_items(line: &str, most: usize) -> Option<usize> {
    let count = count_items(line.as_bytes(), most);
    if count.is_none() && !is_json(line) {
        return count_items(line.as_bytes(), usize::MAX);
    }
    count
}

/// Whether a text is valid JSON of any depth. The check does not recurse for each level.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text.trim()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_nested_lists_and_objects_only() {
        let is_deep = |json: &str| count_items(json.as_bytes(), 2).is_none();
        assert!(!is_deep(r#"[[1],[2],{"a":3}]"#));
        assert!(is_deep(r#"[[{"a":3}]]"#));
        assert!(!is_deep(r#"["[[[[[[", "\"[[[["]"#));
        assert!(is_deep(&"[".repeat(1_000_000)));
        assert!(!is_deep("]]]]"));
    }

    #[test]
    fn items_within_strings_are_not_counted() {
        let items = |json: &str| count_items(json.as_bytes(), 100);
        assert_eq!(items(r#"{"a":[1,2],"b":{}}"#), Some(5));
        assert_eq!(items(r#""{[,\"{[,""#), Some(0));
        assert_eq!(items("[{},{},{}]"), Some(6));
    }

    #[test]
    fn line_that_ends_within_a_string_does_not_affect_the_next() {
        assert_eq!(count_text_items("{\"a\":\"\n[1,2]\n", 100), Some(3));
    }

    #[test]
    fn depth_limit_applies_to_texts_and_to_each_line_of_a_log() {
        let is_deep = |text: &str| count_text_items(text, 2).is_none();
        for deep in [
            "[[[]]]",
            "{\"a\":[[1]]}\n{}",
            "{}\n\u{a0}{\"a\":[[1]]} \r\n",
            // One JSON text over many lines.
            "\u{feff}\n[\n[\n{\n}\n]\n]\n",
        ] {
            assert!(is_deep(deep), "{deep:?}");
        }
        let levels = 100_000;
        let tower = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(is_deep(&tower) && is_deep(&tower.replace('[', "[\n")));
        for flat in [
            "",
            "no JSON",
            "[[1],[2]]",
            "{\"a\":[1]}\n{\"b\":[2]}\n",
            "\"[[[[[\"\n{}",
            // Damaged lines are not deep, and neither are many that end early.
            "{}\n[[[[[\n{}",
            "{\"a\":[\n{\"a\":[\n{\"a\":[\n",
        ] {
            assert!(!is_deep(flat), "{flat:?}");
        }
        assert_eq!(count_text_items("{}\n[[[[[\n{}", 2), Some(7));
    }
}
