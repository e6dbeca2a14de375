//! JSON as text, in one of the many spellings that clients send.

use crate::choices::{Choices, Random};

/// The spelling of one document. By itself it is compact and keeps the order of members.
#[derive(Debug, Clone)]
pub(crate) struct Spelling {
    spacing: Spacing,
    /// Members in any order.
    shuffled: bool,
    /// Nothing but ASCII: `\u00e9`.
    ascii: bool,
    /// `\/`, as PHP writes it.
    slashes: bool,
    /// Escapes where none is needed, also in keys.
    odd: bool,
    random: Random,
}

#[derive(Debug, Clone, Copy)]
enum Spacing {
    None,
    /// As Python's `json.dumps`.
    AfterCommas,
    Lines,
    Odd,
}

impl Spelling {
    pub(crate) fn choose(choices: &mut Choices<'_>) -> Self {
        let spacing = match choices.below(8) {
            0..4 => Spacing::None,
            4 | 5 => Spacing::AfterCommas,
            6 => Spacing::Lines,
            _ => Spacing::Odd,
        };
        Self {
            spacing,
            shuffled: choices.one_in(4),
            ascii: choices.one_in(4),
            slashes: choices.one_in(8),
            odd: choices.one_in(16),
            random: choices.random(),
        }
    }

    /// What stands between the members of a list.
    pub(crate) const fn comma(&self) -> &'static str {
        match self.spacing {
            Spacing::None => ",",
            Spacing::AfterCommas => ", ",
            Spacing::Lines => ",\n    ",
            Spacing::Odd => " ,\r\n\t",
        }
    }

    /// What stands between a key and its value.
    pub(crate) const fn colon(&self) -> &'static str {
        match self.spacing {
            Spacing::None => ":",
            Spacing::AfterCommas | Spacing::Lines => ": ",
            Spacing::Odd => "\t:\n",
        }
    }

    /// Some white space, where this spelling has it.
    pub(crate) fn gap(&mut self) -> &'static str {
        match self.spacing {
            Spacing::None | Spacing::AfterCommas => "",
            Spacing::Lines => "\n    ",
            Spacing::Odd => ["", " ", "\n", "\t \r\n"][self.random.below(4)],
        }
    }

    /// A JSON text.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut written = String::with_capacity(text.len() + text.len() / 16 + 2);
        written.push('"');
        for c in text.chars() {
            match c {
                '"' => written.push_str("\\\""),
                '\\' => written.push_str("\\\\"),
                '/' if self.slashes => written.push_str("\\/"),
                // Each seldom enough that a text stays readable.
                _ if self.odd && self.random.one_in(30) => unicode(c, true, &mut written),
                '\n' => written.push_str("\\n"),
                '\t' => written.push_str("\\t"),
                '\r' => written.push_str("\\r"),
                '\u{8}' => written.push_str("\\b"),
                '\u{c}' => written.push_str("\\f"),
                '\0'..' ' => unicode(c, false, &mut written),
                _ if self.ascii && !c.is_ascii() => unicode(c, false, &mut written),
                _ => written.push(c),
            }
        }
        written.push('"');
        written
    }

    /// A JSON object. The values are JSON already.
    pub(crate) fn object(&mut self, mut members: Vec<(&str, String)>) -> String {
        if self.shuffled {
            for left in (1..members.len()).rev() {
                members.swap(left, self.random.below(left + 1));
            }
        }
        let length: usize = members.iter().map(|(_, value)| value.len() + 24).sum();
        let mut written = String::with_capacity(length + 2);
        written.push('{');
        for (index, (key, value)) in members.iter().enumerate() {
            if index > 0 {
                written.push_str(self.comma());
            }
            written.push_str(self.gap());
            written.push_str(&self.text(key));
            written.push_str(self.colon());
            written.push_str(value);
        }
        written.push_str(self.gap());
        written.push('}');
        written
    }

    /// A JSON list. The values are JSON already.
    pub(crate) fn list(&mut self, values: &[String]) -> String {
        let comma = self.comma();
        format!("[{}{}{}]", self.gap(), values.join(comma), self.gap())
    }
}

/// `c` as `\u` escapes; two of them above U+FFFF.
fn unicode(c: char, capitals: bool, written: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let escape = if capitals {
            format!("\\u{unit:04X}")
        } else {
            format!("\\u{unit:04x}")
        };
        written.push_str(&escape);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_text_reads_the_same() {
        let text = "caf\u{e9} \u{1f600} a/b \"q\" \\ \n\t\r\u{8}\u{c}\u{1b}\0 \u{2028} नमस्ते";
        for seed in 0..500 {
            let mut spelling = Spelling::choose(&mut Choices::from_seed(seed));
            let json = spelling.text(text);
            let object = spelling.object(vec![("type", json), ("list", "[1e0]".to_owned())]);
            let list = spelling.list(&[object, "{}".to_owned()]);
            let read: serde_json::Value = serde_json::from_str(&list).expect("JSON");
            assert_eq!(read[0]["type"], text);
        }
    }

    #[test]
    fn the_simplest_spelling_is_compact() {
        let mut spelling = Spelling::choose(&mut Choices::from_bytes(&[]));
        let text = spelling.text("a/é");
        assert_eq!(
            spelling.object(vec![("k", text), ("n", "1.0".to_owned())]),
            r#"{"k":"a/é","n":1.0}"#
        );
    }
}
