//! How deep a JSON text is, and how much there is in it, found without taking it apart.

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

/// The same of a session log, each line of which is a JSON text. One that breaks off in a text
/// hides nothing of the next.
pub(crate) fn items_of_log(log: &str) -> usize {
    log.lines()
        .filter_map(|line| items(line.as_bytes(), usize::MAX))
        .sum()
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
        assert_eq!(items_of_log("{\"a\":\"\n[1,2]\n"), 3);
    }
}
