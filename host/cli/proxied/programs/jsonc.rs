//! JSON with comments, and with a comma behind the last member.

use serde_json::Value;

/// Parses such a text. `None` if it is invalid.
pub(super) fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(&plain(text)).ok()
}

fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut comma = "";
    while let Some(first) = rest.chars().next() {
        let (comment, end) = match (rest.strip_prefix("//"), rest.strip_prefix("/*")) {
            (Some(comment), _) => (Some(comment), "\n"),
            (None, comment) => (comment, "*/"),
        };
        if let Some(comment) = comment {
            rest = comment.split_once(end).map_or("", |(_, behind)| behind);
            continue;
        }
        let length = if first == '"' {
            string_length(rest)
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(length);
        rest = behind;
        if first == ',' {
            plain += comma;
            comma = token;
            continue;
        }
        if !first.is_whitespace() {
            plain += if matches!(first, ']' | '}') {
                ""
            } else {
                comma
            };
            comma = "";
        }
        plain += token;
    }
    plain
}

/// Returns the length of the string with which a text begins.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        if character == '"' && !is_escaped {
            return at + 1;
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_last_commas_are_left_out_and_strings_stay() {
        let text = r#"{ // "a": 0
            /*/ "b": 1 */ "c\"//": "http://x, /* ö */\\", /* , */
            "d": [1, 2 , // ]
            ],
        } // end"#;
        let value = json!({"c\"//": "http://x, /* ö */\\", "d": [1, 2]});
        assert_eq!(parse(text), Some(value));
        assert_eq!(parse(r#"{"a": 1}"#), Some(json!({"a": 1})));
    }

    #[test]
    fn what_is_no_such_text_is_refused() {
        for text in [
            "",
            "{",
            r#"{"a": 1,,}"#,
            r#"{"a": 1 "b": 2}"#,
            "{a: 1}",
            "\"a",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
