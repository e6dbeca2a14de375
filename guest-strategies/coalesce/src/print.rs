//! Prints values as text with limited numbers of items and characters.

use std::fmt::Write;

use crate::order::by_name;
use crate::value::{Key, Value};

/// The assumed number of characters of a key of a map.
const KEY: usize = 10;
/// The number of characters per shown entry of a map.
const ENTRY: usize = 30;
/// The least limit of characters for a shown value of a map.
const LEAST: usize = 10;

/// Prints values, and counts the keys that the program hides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    /// the most items of a collection that are shown
    pub items: usize,
    /// the most characters of a text that are shown
    pub characters: usize,
    /// the number of keys left out because they start with `_`
    pub hidden: u64,
}

impl Printer {
    pub(crate) fn new(items: usize, characters: usize) -> Self {
        Self {
            items,
            characters,
            hidden: 0,
        }
    }

    /// Returns the value as text.
    pub(crate) fn print(&mut self, value: &Value) -> String {
        let characters = self.characters;
        self.within(value, characters)
    }

    fn within(&mut self, value: &Value, characters: usize) -> String {
        match value {
            Value::Nil => "nil".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => float(*value),
            Value::Text(text) => quoted(text, characters),
            Value::Keyword(name) => format!(":{name}"),
            Value::List(items) => self.items(items, "[", "]", characters),
            Value::Set(items) => self.items(items, "#{", "}", characters),
            Value::Map(entries) => self.map(entries, characters),
        }
    }

    fn items(&mut self, items: &[Value], open: &str, close: &str, characters: usize) -> String {
        let mut shown: Vec<String> = items
            .iter()
            .take(self.items)
            .map(|item| self.within(item, characters))
            .collect();
        if items.len() <= self.items {
            return format!("{open}{}{close}", shown.join(" "));
        }
        shown.push("...".to_owned());
        format!(
            "{open}{}{close} ({} items, showing first {})",
            shown.join(" "),
            items.len(),
            self.items
        )
    }

    fn map(&mut self, entries: &[(Key, Value)], characters: usize) -> String {
        let mut seen: Vec<&(Key, Value)> =
            entries.iter().filter(|(key, _)| !key.is_hidden()).collect();
        self.hidden += (entries.len() - seen.len()) as u64;
        let names: Vec<&str> = seen.iter().map(|(key, _)| key.name()).collect();
        seen = by_name(&names)
            .into_iter()
            .map(|place| seen[place])
            .collect();
        let total = seen.len();
        seen.truncate(self.items.min((characters / ENTRY).max(1)));
        let each = characters
            .saturating_sub(KEY * seen.len())
            .checked_div(seen.len())
            .map_or(LEAST, |each| each.max(LEAST));
        let mut shown: Vec<String> = Vec::new();
        for (key, value) in &seen {
            let name = match key {
                Key::Keyword(name) => format!(":{name}"),
                Key::Text(name) => quoted(name, usize::MAX),
            };
            shown.push(format!("{name} {}", self.within(value, each)));
        }
        if seen.len() < total {
            shown.push("...".to_owned());
        }
        format!("{{{}}}", shown.join(" "))
    }
}

/// Returns a number with one to ten decimals.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "##NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "##Inf" } else { "##-Inf" }.to_owned();
    }
    let printed = format!("{value:.10}");
    let printed = printed.trim_end_matches('0');
    match printed.ends_with('.') {
        true => format!("{printed}0"),
        false => printed.to_owned(),
    }
}

/// Returns the text in quotes, cut to `characters` characters.
fn quoted(text: &str, characters: usize) -> String {
    let mut printed = String::from("\"");
    let mut left = text.chars();
    for character in left.by_ref().take(characters) {
        match character {
            '"' | '\\' => {
                let _ = write!(printed, "\\{character}");
            }
            '\n' => printed.push_str("\\n"),
            '\r' => printed.push_str("\\r"),
            '\t' => printed.push_str("\\t"),
            character => printed.push(character),
        }
    }
    if left.next().is_some() {
        printed.push_str("...");
    }
    printed.push('"');
    printed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn printed(json: &str, items: usize, characters: usize) -> String {
        let value: Value = serde_json::from_str(json).expect("it is JSON");
        Printer::new(items, characters).print(&value)
    }

    /// F1, PT-S23
    #[test]
    fn plain_values() {
        for (json, expected) in [
            ("42", "42"),
            ("[1,2,3]", "[1 2 3]"),
            ("null", "nil"),
            (r#"{"$keyword":"keyword"}"#, ":keyword"),
            ("true", "true"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            assert_eq!(printed(json, 3, 80), expected);
        }
    }

    /// PT-S23
    #[test]
    fn floats_have_one_to_ten_decimals() {
        for (json, expected) in [
            ("3.3000000000000003", "3.3"),
            ("3.0", "3.0"),
            ("-0.125", "-0.125"),
            ("0.12345678901234", "0.123456789"),
            (r#"{"$float":"inf"}"#, "##Inf"),
            (r#"{"$float":"-inf"}"#, "##-Inf"),
            (r#"{"$float":"nan"}"#, "##NaN"),
        ] {
            assert_eq!(printed(json, 3, 80), expected);
        }
    }

    /// F2, PT-S26
    #[test]
    fn maps_are_sorted_by_key() {
        assert_eq!(
            printed(r#"{"id":101,"count":45}"#, 3, 80),
            "{:count 45 :id 101}"
        );
        assert_eq!(
            printed(r#"{"two words":1,"one":2}"#, 3, 80),
            r#"{:one 2 "two words" 1}"#
        );
    }

    /// F3, PT-S26
    #[test]
    fn text_keys_are_quoted() {
        let map = Value::Map(vec![
            (
                Key::Text("name".to_owned()),
                Value::Text("Alice".to_owned()),
            ),
            (Key::Text("age".to_owned()), Value::Integer(30)),
        ]);
        assert_eq!(
            Printer::new(3, 80).print(&map),
            r#"{"age" 30 "name" "Alice"}"#
        );
    }

    /// F4, PT-S24
    #[test]
    fn lists_over_the_limit_say_how_many_there_are() {
        assert_eq!(
            printed("[1,2,3,4,5]", 2, 80),
            "[1 2 ...] (5 items, showing first 2)"
        );
        assert_eq!(printed("[1]", 0, 80), "[...] (1 items, showing first 0)");
        assert_eq!(printed("[]", 0, 80), "[]");
    }

    /// PT-S25
    #[test]
    fn sets_are_printed_as_lists_are() {
        assert_eq!(printed(r#"{"$set":[1,2]}"#, 2, 80), "#{1 2}");
        assert_eq!(
            printed(r#"{"$set":[1,2,3]}"#, 2, 80),
            "#{1 2 ...} (3 items, showing first 2)"
        );
    }

    /// F5, PT-S28
    #[test]
    fn texts_over_the_limit_are_cut_inside_the_quotes() {
        assert_eq!(
            printed(r#""very long string here""#, 3, 10),
            r#""very long ...""#
        );
        assert_eq!(printed(r#""a\"b\\c\nd""#, 3, 80), r#""a\"b\\c\nd""#);
    }

    /// PT-N10
    #[test]
    fn a_text_is_measured_in_what_it_is_cut_by() {
        let text = "字".repeat(30);
        assert_eq!(
            printed(&format!("{text:?}"), 3, 80),
            format!("\"{text}\""),
            "30 characters of 90 bytes"
        );
        assert_eq!(printed(&format!("{text:?}"), 3, 2), "\"字字...\"");
    }

    /// F6, PT-S26, PT-N8
    #[test]
    fn hidden_keys_are_left_out_and_counted() {
        let value = serde_json::from_str(r#"{"title":"Hello","_body":"secret"}"#).expect("JSON");
        let mut printer = Printer::new(3, 80);
        assert_eq!(printer.print(&value), r#"{:title "Hello"}"#);
        assert_eq!(printer.hidden, 1);
    }

    /// F7
    #[test]
    fn collections_nest() {
        assert_eq!(printed(r#"[{"a":1},{"b":2}]"#, 3, 80), "[{:a 1} {:b 2}]");
    }

    /// PT-S27
    #[test]
    fn maps_have_a_limit_of_their_own() {
        let four = r#"{"a":1,"b":2,"c":3,"d":4}"#;
        assert_eq!(printed(four, 10, 90), "{:a 1 :b 2 :c 3 ...}");
        assert_eq!(printed(four, 2, 90), "{:a 1 :b 2 ...}");
        assert_eq!(printed(four, 10, 5), "{:a 1 ...}");
        assert_eq!(printed(four, 0, 90), "{...}");
        // 60 characters for two entries: 20 for each value.
        let long = "x".repeat(99);
        assert_eq!(
            printed(&format!(r#"{{"a":"{long}","b":1}}"#), 3, 60),
            format!("{{:a \"{}...\" :b 1}}", "x".repeat(20))
        );
        // However little there is, a value has ten.
        assert_eq!(
            printed(&format!(r#"{{"a":"{long}"}}"#), 3, 1),
            format!("{{:a \"{}...\"}}", "x".repeat(10))
        );
    }
}
