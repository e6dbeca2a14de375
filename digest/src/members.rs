//! The members of a JSON object, read one after the other and not as a tree: an output may be cut off anywhere, and
//! then it is no JSON.

/// The most bytes that are looked through.
const MOST: usize = 1 << 20;

/// The value of a member, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// What stands between the quotes, or as much of it as there is.
    Text(&'a str),
    /// A number, `true`, `false` or `null`.
    Plain(&'a str),
    /// An object or a list, or as much of it as there is.
    Nested(&'a str),
}

/// The members of an object in their order, up to the first place that is none.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    rest: &'a str,
}

/// The members of the object that a text begins with; none where it begins with something else.
pub(crate) fn of(text: &str) -> Members<'_> {
    let text = &text[..text.floor_char_boundary(MOST)];
    let rest = text.trim_start().strip_prefix('{').unwrap_or_default();
    Members { rest }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = std::mem::take(&mut self.rest);
        let (key, rest) = text_of(rest.trim_start().strip_prefix('"')?);
        let rest = rest.trim_start().strip_prefix(':')?;
        let (value, rest) = value_of(rest.trim_start())?;
        self.rest = rest.trim_start().strip_prefix(',').unwrap_or_default();
        Some((key, value))
    }
}

fn value_of(rest: &str) -> Option<(Value<'_>, &str)> {
    if let Some(inside) = rest.strip_prefix('"') {
        let (text, behind) = text_of(inside);
        return Some((Value::Text(text), behind));
    }
    if rest.starts_with(['{', '[']) {
        let (nested, behind) = rest.split_at(end_of_nested(rest));
        return Some((Value::Nested(nested), behind));
    }
    // Without an end it may go on: the half of a number is another one.
    let end = rest.find(|c: char| matches!(c, ',' | '}' | ']') || c.is_whitespace())?;
    let (plain, behind) = rest.split_at(end);
    (!plain.is_empty()).then_some((Value::Plain(plain), behind))
}

/// A text up to its closing quote, and what stands behind that.
fn text_of(inside: &str) -> (&str, &str) {
    let mut is_escaped = false;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return (&inside[..at], &inside[at + 1..]),
            _ => {}
        }
    }
    (inside, "")
}

/// Where the object or list ends that a text begins with.
fn end_of_nested(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut is_text = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => depth += 1,
            b'}' | b']' if !is_text => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::Value::{Nested, Plain, Text};
    use super::{Value, of};

    fn members(text: &str) -> Vec<(&str, Value<'_>)> {
        of(text).collect()
    }

    #[test]
    fn members_at_the_top_are_told_apart() {
        assert_eq!(
            members(" {\n \"a\" : \"x\\\"}\\\\\", \"b\":{\"c\":[\"]\"]},\"d\":-1 ,\"e\":null}\n"),
            [
                ("a", Text("x\\\"}\\\\")),
                ("b", Nested("{\"c\":[\"]\"]}")),
                ("d", Plain("-1")),
                ("e", Plain("null")),
            ]
        );
        for none in [
            "",
            "{",
            "{}",
            "[1]",
            "text",
            "{a: 1}",
            "{\"a\"",
            "{\"a\" 1}",
        ] {
            assert!(members(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn what_is_cut_off_is_read_as_far_as_it_goes() {
        assert_eq!(
            members(r#"{"a":1,"b":"日"#),
            [("a", Plain("1")), ("b", Text("日"))]
        );
        assert_eq!(members(r#"{"a":[1,{"#), [("a", Nested("[1,{"))]);
        assert_eq!(members(r#"{"a":1,"b":13"#), [("a", Plain("1"))]);
    }

    #[test]
    fn any_text_is_looked_through_in_no_time() {
        for piece in ["{", "[", "\"", "\\", "{\"a\":", "{\"a\":1,", "日"] {
            let text = format!("{{\"a\":{}", piece.repeat((1 << 20) / piece.len()));
            let _ = members(&text);
        }
        let many = format!("{{{}", "\"a\":1,".repeat(1 << 16));
        assert_eq!(members(&many).len(), 1 << 16);
    }
}
