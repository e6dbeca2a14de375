//! Changes of a JSON text that keep every other byte of it.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize as _;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::configuration::Edit;

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// Returns the edit that sets a member of the object `list`, which is a member of the whole text; both are made if they
/// are not there. It does not touch the lines of others. `None` if the text is not an object with such a list.
pub(super) fn set(text: &str, list: &str, key: &str, value: &Value) -> Option<Edit> {
    if text.trim().is_empty() {
        let text = format!("{}\n", pretty(&json!({list: {key: value}}), "  ", ""));
        return Some(Edit::at_end_of("", text));
    }
    let root: &RawValue = serde_json::from_str(text).ok()?;
    let members: Members<'_> = serde_json::from_str(root.get()).ok()?;
    let unit = unit(text, &members);
    let Some(entries) = members.get(list) else {
        return with_member(text, root, list, &json!({key: value}), unit);
    };
    let inner: Members<'_> = serde_json::from_str(entries.get()).ok()?;
    let Some(old) = inner.get(key) else {
        return with_member(text, entries, key, value, unit);
    };
    let range = range_in(text, old);
    let text = match serde_json::from_str::<Value>(old.get()).ok()? == *value {
        true => old.get().to_owned(),
        false => pretty(value, unit, indentation(text, range.start)),
    };
    Some(Edit { range, text })
}

/// Returns the edit that removes a member of the object `list`; an edit without effect if it is not there. `None`: the text is
/// no object, or the member cannot be told apart from what is around it.
pub(super) fn remove(text: &str, list: &str, key: &str) -> Option<Edit> {
    if text.trim().is_empty() {
        return Some(Edit::at_end_of(text, String::new()));
    }
    let members: Members<'_> = serde_json::from_str(text).ok()?;
    let inner = match members.get(list) {
        Some(entries) => serde_json::from_str::<Members<'_>>(entries.get()).ok()?,
        None => Members::new(),
    };
    let Some(old) = inner.get(key) else {
        return Some(Edit::at_end_of(text, String::new()));
    };
    let value = range_in(text, old);
    let before = text.get(..value.start)?.trim_end().strip_suffix(':')?;
    let before = before.trim_end().strip_suffix(&json!(key).to_string())?;
    let behind = text.get(value.end..)?;
    let blank = |text: &str| text.len() - text.trim_start().len();
    let range = match behind.trim_start().strip_prefix(',') {
        // Up to the next member, which takes its place.
        Some(rest) => before.len()..text.len() - rest.len() + blank(rest),
        None => match before.trim_end().strip_suffix(',') {
            Some(others) => others.len()..value.end,
            None => before.trim_end().len()..value.end + blank(behind),
        },
    };
    let text = String::new();
    Some(Edit { range, text })
}

/// Returns the edit that makes a member the first one of an object. So no line of another member changes.
fn with_member(
    text: &str,
    object: &RawValue,
    key: &str,
    value: &Value,
    unit: &str,
) -> Option<Edit> {
    let range = range_in(text, object);
    let start = range.start + 1;
    let inside = text.get(start..range.end.checked_sub(1)?)?;
    let key = json!(key);
    if inside.trim().is_empty() {
        let outer = indentation(text, range.start);
        let value = pretty(value, unit, &[outer, unit].concat());
        let text = format!("\n{outer}{unit}{key}: {value}\n{outer}");
        let range = start..range.end - 1;
        return Some(Edit { range, text });
    }
    let text = if inside
        .trim_start_matches([' ', '\t', '\r'])
        .starts_with('\n')
    {
        let first = text.len() - text.get(start..)?.trim_start().len();
        let indentation = indentation(text, first);
        let value = pretty(value, unit, indentation);
        format!("\n{indentation}{key}: {value},")
    } else {
        format!("{key}: {value}, ")
    };
    let range = start..start;
    Some(Edit { range, text })
}

/// Where a value lies in the text that it was read from.
fn range_in(text: &str, value: &RawValue) -> Range<usize> {
    let value = value.get();
    let start = (value.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + value.len()
}

/// Returns the white space at the beginning of the line of a place.
fn indentation(text: &str, place: usize) -> &str {
    let before = text.get(..place).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(line..).unwrap_or_default();
    let end = line.find(|letter| letter != ' ' && letter != '\t');
    line.get(..end.unwrap_or(line.len())).unwrap_or_default()
}

/// Returns by how much the text is indented at each level.
fn unit<'a>(text: &'a str, members: &Members<'_>) -> &'a str {
    let starts = members.values().map(|value| range_in(text, value).start);
    match starts.min().map(|first| indentation(text, first)) {
        None | Some("") => "  ",
        Some(unit) => unit,
    }
}

/// Writes a value over several lines, all but the first one behind `indentation`.
fn pretty(value: &Value, unit: &str, indentation: &str) -> String {
    let mut written = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut written, formatter);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8_lossy(&written).replace('\n', &format!("\n{indentation}")),
        Err(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_in(text: &str) -> String {
        let value = json!({"command": "/bin/baler", "args": ["mcp"]});
        let edit = set(text, "mcpServers", "baler", &value).expect("an object");
        edit.apply(text)
    }

    fn removed(text: &str) -> String {
        let edit = remove(text, "mcpServers", "baler").expect("an object");
        edit.apply(text)
    }

    #[test]
    fn a_member_is_set_and_removed_again_and_all_else_stays() {
        for text in [
            "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"x\": {}\n  },\n  \"b\": [1,2]\n}\n",
            "{\n\t\"mcpServers\": {},\n\t\"b\": 1e2\n}",
            "{\"mcpServers\": {\"x\": {}}, \"b\": \"\\u0041\"}",
        ] {
            let with = set_in(text);
            let value: Value = serde_json::from_str(&with).expect(&with);
            assert_eq!(value["mcpServers"]["baler"]["args"], json!(["mcp"]));
            assert_eq!(set_in(&with), with);
            assert_eq!(removed(&with), text);
            assert_eq!(removed(text), text);
        }
    }

    #[test]
    fn a_list_that_is_not_there_is_made() {
        let with = set_in("{\n  \"a\": 1\n}\n");
        let expected = "{\n  \"mcpServers\": {\n    \"baler\": {\n      \"args\": [\n        \"mcp\"\n      ],\n      \"command\": \"/bin/baler\"\n    }\n  },\n  \"a\": 1\n}\n";
        assert_eq!(with, expected);
        assert_eq!(removed(&with), "{\n  \"mcpServers\": {},\n  \"a\": 1\n}\n");
        let new = set_in("");
        assert!(new.starts_with("{\n  \"mcpServers\"") && new.ends_with("}\n"));
    }

    #[test]
    fn another_value_is_replaced() {
        let text =
            "{\n  \"mcpServers\": {\n    \"baler\": {\"command\": \"old\"},\n    \"x\": {}\n  }\n}";
        let with = set_in(text);
        assert!(
            !with.contains("old") && with.ends_with("},\n    \"x\": {}\n  }\n}"),
            "{with}"
        );
        assert_eq!(removed(&with), removed(text));
    }

    #[test]
    fn what_is_no_json_object_is_left_alone() {
        for text in ["{ // mine\n}", "[]", "{\"mcpServers\": 1}"] {
            assert!(
                set(text, "mcpServers", "baler", &json!(1)).is_none(),
                "{text}"
            );
        }
    }
}
