//! White space at the end of a raw JSON string.

use crate::json::Place;

/// Where the white space at the end of `raw` lies, which begins at `offset` of the document;
/// `None` if there is none. What comes before it keeps its spelling.
pub(crate) fn at_the_end(raw: &str, offset: usize) -> Option<Place> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    let mut rest = inner;
    // Where the last character that is not white space ends.
    let mut end = 0;
    while let Some(first) = rest.chars().next() {
        let (length, is_space) = match rest.strip_prefix('\\') {
            None => (first.len_utf8(), first.is_whitespace()),
            Some(escape) => match escape.strip_prefix('u').and_then(|hex| hex.get(..4)) {
                Some(hex) => {
                    let code = u32::from_str_radix(hex, 16).ok();
                    let character = code.and_then(char::from_u32);
                    (6, character.is_some_and(char::is_whitespace))
                }
                None => (2, escape.starts_with(['n', 't', 'r', 'f'])),
            },
        };
        rest = rest.get(length..)?;
        if !is_space {
            end = inner.len() - rest.len();
        }
    }
    let start = offset + 1;
    (end < inner.len()).then(|| start + end..start + inner.len())
}

#[cfg(test)]
mod tests {
    use super::at_the_end;

    #[test]
    fn white_space_is_found_in_every_spelling() {
        for (raw, expected) in [
            (r#""a ""#, Some(12..13)),
            (r#""a\n\u0020\t""#, Some(12..22)),
            (r#""a\\n""#, None),
            (r#""a\\ ""#, Some(14..15)),
            ("\"\u{3042}\u{3000}\"", Some(14..17)),
            (r#""\u00e9""#, None),
            (r#"" ""#, Some(11..12)),
            (r#""""#, None),
        ] {
            assert_eq!(at_the_end(raw, 10), expected, "{raw}");
        }
    }
}
