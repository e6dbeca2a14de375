//! How deep a JSON text is, found without taking it apart.

/// Whether lists and objects lie in each other more than `most` levels deep.
pub(crate) fn is_deeper_than(json: &[u8], most: usize) -> bool {
    let (mut depth, mut in_text, mut is_escaped) = (0usize, false, false);
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
            b'[' | b'{' => {
                depth += 1;
                if depth > most {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_in_each_other_counts() {
        let is_deep = |json: &str| is_deeper_than(json.as_bytes(), 2);
        assert!(!is_deep(r#"[[1],[2],{"a":3}]"#));
        assert!(is_deep(r#"[[{"a":3}]]"#));
        assert!(!is_deep(r#"["[[[[[", "\"[[[["]"#));
        assert!(is_deep(&"[".repeat(1_000_000)));
        assert!(!is_deep("]]]]"));
    }
}
