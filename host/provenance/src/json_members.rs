//! Reads the members of a JSON object one after the other, not as a tree: an output may be cut off anywhere,
//! and then it is not JSON.

/// Most bytes that are read.
const MOST: usize = 1 << 20;

/// Value of a member, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Text between the quotes, still escaped, up to where it is cut off.
    Text(&'a str),
    /// A number, `true`, `false` or `null`.
    Plain(&'a str),
    /// An object or a list, up to where it is cut off.
    Nested(&'a str),
}

/// Iterates the members of an object in their order, up to the first place that is not a member.
#[derive(Debug)]
pub struct Members<'a> {
    rest: &'a str,
}

/// Iterates the members of the object that a text begins with; no members if it begins with something else.
pub fn of(text: &str) -> Members<'_> {
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
    // Without an end it may be cut off, and half of a number is another number.
    let end = rest.find(|c: char| matches!(c, ',' | '}' | ']') || c.is_whitespace())?;
    let (plain, behind) = rest.split_at(end);
    (!plain.is_empty()).then_some((Value::Plain(plain), behind))
}

/// Splits a text after its closing quote.
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

/// Returns the end of the object or list that a text begins with.
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
    fn members_of_the_outer_object_are_found() {
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
    fn an_object_that_is_cut_off_is_read_up_to_there() {
        assert_eq!(
            members(r#"{"a":1,"b":"日"#),
            [("a", Plain("1")), ("b", Text("日"))]
        );
        assert_eq!(members(r#"{"a":[1,{"#), [("a", Nested("[1,{"))]);
        assert_eq!(members(r#"{"a":1,"b":13"#), [("a", Plain("1"))]);
    }

    #[test]
    fn hostile_texts_are_read_in_linear_time() {
        for piece in ["{", "[", "\"", "\\", "{\"a\":", "{\"a\":1,", "日"] {
            let text = format!("{{\"a\":{}", piece.repeat((1 << 20) / piece.len()));
            let _ = members(&text);
        }
        let many = format!("{{{}", "\"a\":1,".repeat(1 << 16));
        assert_eq!(members(&many).len(), 1 << 16);
    }
}
