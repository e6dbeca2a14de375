//! How deep a JSON text is, and how much there is in it, found without taking it apart.

use serde::de::IgnoredAny;

/// How many lists, objects and commas there are, which is what it takes memory to work on beside
/// its text; none where lists and objects lie in each other more than `most` levels deep.
pub(crate) fn items(json: &[u8], most: usize) -> Option<usize> {
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

/// The same of a text that is a JSON text itself, or a session log, each line of which is one. A line that breaks
/// off in a text hides nothing of the next.
pub(crate) fn items_of_text(text: &str, most: usize) -> Option<usize> {
    let text = text.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace());
    // One that stands on many lines is deep in none of them.
    if is_json(text) {
        return items(text.as_bytes(), most);
    }
    text.lines().map(|line| items_of_line(line, most)).sum()
}

/// A damaged line may look deep, and who reads the log passes over it.
fn items_of_line(line: &str, most: usize) -> Option<usize> {
    let within = items(line.as_bytes(), most);
    if within.is_none() && !is_json(line) {
        return items(line.as_bytes(), usize::MAX);
    }
    within
}

/// Whether a text is one JSON text, of any depth: that is found out without a step down the stack for each level.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text.trim()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_in_each_other_counts() {
        let is_deep = |json: &str| items(json.as_bytes(), 2).is_none();
        assert!(!is_deep(r#"[[1],[2],{"a":3}]"#));
        assert!(is_deep(r#"[[{"a":3}]]"#));
        assert!(!is_deep(r#"["[[[[[[", "\"[[[["]"#));
        assert!(is_deep(&"[".repeat(1_000_000)));
        assert!(!is_deep("]]]]"));
    }

    #[test]
    fn lists_objects_and_commas_count_and_what_stands_in_a_text_does_not() {
        let items = |json: &str| items(json.as_bytes(), 100);
        assert_eq!(items(r#"{"a":[1,2],"b":{}}"#), Some(5));
        assert_eq!(items(r#""{[,\"{[,""#), Some(0));
        assert_eq!(items("[{},{},{}]"), Some(6));
    }

    #[test]
    fn a_line_that_breaks_off_in_a_text_hides_nothing_of_the_next() {
        assert_eq!(items_of_text("{\"a\":\"\n[1,2]\n", 100), Some(3));
    }

    #[test]
    fn a_text_is_as_deep_as_a_body() {
        let is_deep = |text: &str| items_of_text(text, 2).is_none();
        for deep in [
            "[[[]]]",
            "{\"a\":[[1]]}\n{}",
            "{}\n\u{a0}{\"a\":[[1]]} \r\n",
            // One text over many lines.
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
            // A damaged line is deep for nobody, and neither are many that break off.
            "{}\n[[[[[\n{}",
            "{\"a\":[\n{\"a\":[\n{\"a\":[\n",
        ] {
            assert!(!is_deep(flat), "{flat:?}");
        }
        assert_eq!(items_of_text("{}\n[[[[[\n{}", 2), Some(7));
    }
}
