//! Ids, numbers and names in JSON outputs.

use std::borrow::Cow;

use serde_json::Value;

use super::secrets::says_secret;
use super::text;

/// Outputs of more bytes are listings, which are not worth the time to read them.
const READ: usize = 256 << 10;

/// Most bytes of a key and of a value, and of a line of values. A key is compared for each of its values, so
/// a longer key is skipped with all below it, unless it is an id.
const VALUE: usize = 80;
const LINE: usize = 110;

/// Most lines of one output, most keys of it, and most values of one key.
const LINES: usize = 8;
const KEYS: usize = 100;
const OF_KEY: usize = 40;

/// Digits of a small number, and most of them of one key.
const SMALL: usize = 3;
const OF_SMALL: usize = 3;

/// Returns lines of `key=value` of an output, those with ids first. `source`: the file or the tool.
pub(super) fn lines(source: &str, output: &str) -> Vec<String> {
    if output.len() > READ || !output.trim_start().starts_with(['{', '[']) {
        return Vec::new();
    }
    let Ok(value) = serde_json::from_str::<Value>(output) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    collect(Key::default(), &value, &mut found);
    // Stable, so that keys of one kind stay in order.
    found.sort_by_key(|(key, values)| rank(key.name, values));
    let mut lines: Vec<String> = Vec::new();
    let labels: Vec<Cow<'_, str>> = found.iter().map(|(key, _)| key.among(&found)).collect();
    let labelled = labels.iter().zip(&found);
    for entry in labelled.flat_map(|(key, (_, values))| entries(key, values)) {
        let is_last = lines.len() == LINES;
        match lines.last_mut() {
            Some(line) if line.len() + entry.len() < LINE => {
                line.push_str("; ");
                line.push_str(&entry);
            }
            _ if is_last => break,
            _ => lines.push(format!("{}: {entry}", text::line(source, VALUE))),
        }
    }
    lines
}

/// Returns the first members of a record, what became of a call before ids and others: `status=open; id=7012`. `None` of
/// anything else.
pub(super) fn record(output: &str, limit: usize) -> Option<String> {
    if output.len() > READ || !output.trim_start().starts_with('{') {
        return None;
    }
    let Value::Object(members) = serde_json::from_str::<Value>(output).ok()? else {
        return None;
    };
    let nested = members.values().filter_map(Value::as_object).flatten();
    let members = members.iter().chain(nested).take(KEYS);
    let mut found: Vec<(&str, String)> = members
        .filter_map(|(key, value)| Some((key.as_str(), scalar(value)?)))
        .filter(|(key, _)| key.len() <= VALUE && !says_secret(key))
        .collect();
    let is_status = |key: &str| STATUS.iter().any(|own| key.eq_ignore_ascii_case(own));
    // Stable, so that members of one kind stay in order.
    found.sort_by_key(|(key, value)| (!is_status(key), rank(key, std::slice::from_ref(value))));
    let mut record = String::new();
    for (key, value) in &found {
        if !record.is_empty() && record.len() + key.len() + value.len() > limit {
            continue;
        }
        if !record.is_empty() {
            record.push_str("; ");
        }
        record.push_str(&format!("{key}={value}"));
    }
    (!record.is_empty()).then(|| text::line(&record, limit + VALUE))
}

/// Returns a value that can stand in a line.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let text = text.trim();
            (!text.is_empty() && text.len() <= VALUE).then(|| text.to_owned())
        }
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Keys of records that say what became of a call.
const STATUS: [&str; 8] = [
    "status", "state", "result", "success", "ok", "outcome", "error", "message",
];

/// Returns the values of a key in entries that fit a line. A value that was cut would look like another one.
fn entries(key: &str, values: &[String]) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for value in values {
        match entries.last_mut() {
            Some(entry) if entry.len() + value.len() < LINE => {
                entry.push(',');
                entry.push_str(value);
            }
            _ => entries.push(format!("{key}={value}")),
        }
    }
    let clean = entries
        .into_iter()
        .map(|entry| text::line(&entry, key.len() + LINE));
    clean.collect()
}

/// The key of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Key<'v> {
    /// The key of the object that it is in; empty for the outermost.
    of: &'v str,
    name: &'v str,
}

impl Key<'_> {
    /// Returns the key as it is shown: where one of another object has the same name, prices are not taken for seats.
    fn among(&self, found: &[(Self, Vec<String>)]) -> Cow<'_, str> {
        let mut others = found.iter().map(|(other, _)| other);
        match !self.of.is_empty() && others.any(|other| other.name == self.name && other != self) {
            true => Cow::Owned(format!("{}.{}", self.of, self.name)),
            false => Cow::Borrowed(self.name),
        }
    }
}

fn collect<'v>(key: Key<'v>, value: &'v Value, found: &mut Vec<(Key<'v>, Vec<String>)>) {
    let text = match value {
        Value::Object(members) => {
            for (name, value) in members {
                // Some maps have ids as keys.
                if is_id(name) {
                    add(key, name, found);
                    collect(key, value, found);
                } else if name.len() <= VALUE {
                    let of = key.name;
                    collect(Key { of, name }, value, found);
                }
            }
            return;
        }
        Value::Array(values) => {
            values.iter().for_each(|value| collect(key, value, found));
            return;
        }
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(_) | Value::Null => return,
    };
    add(key, &text, found);
}

fn add<'v>(key: Key<'v>, text: &str, found: &mut Vec<(Key<'v>, Vec<String>)>) {
    let text = text.trim();
    if text.is_empty() || text.len() > VALUE || text.contains('\n') || says_secret(key.name) {
        return;
    }
    if let Some((_, values)) = found.iter_mut().find(|(known, _)| *known == key) {
        // A row of prices or seats says nothing without the records that they are of.
        let is_surplus = is_small_number(text)
            && values.iter().filter(|known| is_small_number(known)).count() >= OF_SMALL;
        if !is_surplus && values.len() < OF_KEY && !values.iter().any(|known| known == text) {
            values.push(text.to_owned());
        }
    } else if found.len() < KEYS {
        found.push((key, vec![text.to_owned()]));
    }
}

fn is_small_number(text: &str) -> bool {
    text.len() <= SMALL && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word contains digits, such as `5512`, `W-88`, `a3f9`.
fn is_id(name: &str) -> bool {
    name.len() >= 4
        && name.bytes().any(|byte| byte.is_ascii_digit())
        && !name.contains(char::is_whitespace)
}

fn rank(key: &str, values: &[String]) -> u8 {
    let key = key.to_ascii_lowercase();
    let names_something = [
        "id",
        "ids",
        "number",
        "code",
        "ref",
        "reference",
        "hash",
        "sha",
        "email",
        "name",
    ]
    .iter()
    .any(|end| key.ends_with(end));
    let has_digits = values
        .iter()
        .any(|value| value.bytes().any(|byte| byte.is_ascii_digit()));
    match (names_something, has_digits) {
        (true, true) => 0,
        (true, false) => 1,
        (false, true) => 2,
        (false, false) => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_row_of_small_numbers_only_the_first_are_shown() {
        let ferry = |number: usize| format!(r#"{{"ferry": "FB{number}", "fare": {number}}}"#);
        let ferries: Vec<String> = (71..81).map(ferry).collect();
        assert_eq!(
            lines("search", &format!("[{}]", ferries.join(","))),
            ["search: fare=71,72,73; ferry=FB71,FB72,FB73,FB74,FB75,FB76,FB77,FB78,FB79,FB80"]
        );
        let fares = r#"[{"fare": 1000}, {"fare": 2000}, {"fare": 3000}, {"fare": 7}]"#;
        assert_eq!(lines("search", fares), ["search: fare=1000,2000,3000,7"]);
    }

    #[test]
    fn values_of_one_name_in_different_objects_are_told_apart() {
        let output =
            r#"{"ferry": "FB71", "seats": {"deck": 12}, "fares": {"deck": 40, "bunk": 75}}"#;
        assert_eq!(
            lines("search", output),
            ["search: bunk=75; fares.deck=40; ferry=FB71; seats.deck=12"]
        );
    }

    #[test]
    fn a_record_begins_with_what_became_of_a_call() {
        let record = |output: &str| record(output, 60);
        let output = r#"{"trip_id": "T7", "legs": [{"status": "open"}], "Status": "cancelled"}"#;
        assert_eq!(
            record(output).as_deref(),
            Some("Status=cancelled; trip_id=T7")
        );
        let nested = r#"{"job": {"id": "J-77", "password": "x1"}, "ok": true, "error": null}"#;
        assert_eq!(record(nested).as_deref(), Some("ok=true; id=J-77"));
        let long = format!(r#"{{"id": "{}", "n": 1}}"#, "7".repeat(70));
        assert_eq!(record(&long).map(|record| record.len()), Some(73));
        for other in ["[1, 2]", "{\"a\": ", r#"{"result": [7]}"#] {
            assert_eq!(record(other), None, "{other}");
        }
    }

    #[test]
    fn no_value_is_cut() {
        let orders: Vec<String> = (0..30)
            .map(|number| format!("\"W{}\"", 7_717_600 + number))
            .collect();
        let lines = lines("find", &format!(r#"{{"orders": [{}]}}"#, orders.join(",")));
        assert!(lines.len() > 2, "{lines:?}");
        let shown = lines.join(",");
        let values = shown.split(|c: char| !c.is_alphanumeric());
        let values = values.filter(|value| value.starts_with('W'));
        assert_eq!(values.clone().count(), 30);
        assert!(values.into_iter().all(|value| value.len() == 8), "{shown}");
    }

    #[test]
    fn values_begin_with_ids_and_are_distinct() {
        let output = r#"{"status": "booked", "legs": [{"leg_id": "L-1", "seat": "12A"}, {"leg_id": "L-2", "seat": "12A"}], "cards": {"card_991": {"kind": "visa"}}}"#;
        assert_eq!(
            lines("get_trip", output),
            ["get_trip: leg_id=L-1,L-2; cards=card_991; seat=12A; kind=visa; status=booked"]
        );
    }

    #[test]
    fn outputs_that_are_not_json_and_secrets_give_no_values() {
        assert!(lines("cat", "fn main() {}").is_empty());
        assert!(lines("login", r#"{"access_token": "abc123"}"#).is_empty());
        assert!(lines("odd", "{\"a\": ").is_empty());
    }

    #[test]
    fn a_key_that_is_too_long_is_skipped() {
        let told = "k".repeat(VALUE);
        // Many values make such a key no slower.
        let ones = vec!["1"; 50_000].join(",");
        let output = format!(r#"{{"{told}": 7, "{told}k": [{ones}], "seat": "12A"}}"#);
        assert_eq!(lines("t", &output), [format!("t: {told}=7; seat=12A")]);
        let long = "k".repeat(100_000);
        let output = format!(r#"{{"{long}": [{ones}], "seat": "12A"}}"#);
        assert_eq!(lines("t", &output), ["t: seat=12A"]);
        let id = "4".repeat(100_000);
        let output = format!(r#"{{"ids": {{"{id}": [{ones}]}}, "seat": "12A"}}"#);
        assert_eq!(lines("t", &output), ["t: ids=1; seat=12A"]);
    }

    #[test]
    fn lines_are_few_and_short() {
        let members: Vec<String> = (0..5_000)
            .map(|i| format!("\"key{}\": \"v{i}\"", "x".repeat(i % 50)))
            .collect();
        let found = lines("t", &format!("[{{{}}}]", members.join("},{")));
        assert!(found.len() <= LINES && found.iter().all(|line| line.len() < 2 * LINE));
    }
}
