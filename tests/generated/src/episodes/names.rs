//! Fresh names for the placeholders of scenarios.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::Choices;

const WORDS: [&str; 48] = [
    "harbor", "ledger", "parcel", "violet", "cinder", "marble", "saddle", "thistle", "walnut",
    "anchor", "beacon", "copper", "dahlia", "ember", "falcon", "garnet", "hazel", "indigo",
    "juniper", "kelp", "lantern", "maple", "nectar", "onyx", "pebble", "quarry", "raven", "sorrel",
    "timber", "umber", "velvet", "willow", "yarrow", "zephyr", "basalt", "cobalt", "drift",
    "fennel", "gravel", "heron", "ivory", "jasper", "lichen", "meadow", "nimbus", "otter",
    "plover", "quill",
];
const PERSONS: [&str; 16] = [
    "Maren Osei",
    "Ilse Brandt",
    "Tomás Rey",
    "Yuki Hara",
    "Noor Haddad",
    "Piotr Lis",
    "Ama Mensah",
    "Luca Ferri",
    "Sofia Dahl",
    "Kiran Rao",
    "Eva Novák",
    "Jonas Weil",
    "Leila Aziz",
    "Oona Virta",
    "Rafael Sá",
    "Mei Tan",
];
const PLACES: [&str; 12] = [
    "Porto",
    "Tromsø",
    "Windhoek",
    "Matsue",
    "Cusco",
    "Ghent",
    "Valparaíso",
    "Bergen",
    "Luang Prabang",
    "Tartu",
    "Galway",
    "Arequipa",
];

/// Makes names, none of them twice.
pub(super) struct Names<'c, 'b> {
    pub(super) choices: &'c mut Choices<'b>,
    made: HashSet<String>,
}

impl<'c, 'b> Names<'c, 'b> {
    pub(super) fn new(choices: &'c mut Choices<'b>) -> Self {
        Self {
            choices,
            made: HashSet::new(),
        }
    }

    /// Returns a value with its placeholders filled. `known` are the names that the scenario has already.
    pub(super) fn filled(&mut self, value: &Value, known: &mut Map<String, Value>) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text, known)),
            Value::Array(values) => values
                .iter()
                .map(|value| self.filled(value, known))
                .collect(),
            Value::Object(members) => {
                let filled = members
                    .iter()
                    .map(|(key, value)| (self.text(key, known), self.filled(value, known)));
                Value::Object(filled.collect())
            }
            other => other.clone(),
        }
    }

    fn text(&mut self, text: &str, known: &mut Map<String, Value>) -> String {
        let mut written = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            written.push_str(&rest[..start]);
            rest = &rest[start..];
            let inside = rest[1..].split_once('}').map_or("", |(inside, _)| inside);
            let (name, kind) = inside.split_once(':').unwrap_or((inside, ""));
            let is_name =
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            let is_kind = kind.bytes().all(|b| b.is_ascii_lowercase());
            if !is_name || !is_kind || (kind.is_empty() && !known.contains_key(name)) {
                written.push('{');
                rest = &rest[1..];
                continue;
            }
            if !known.contains_key(name) {
                let fresh = self.fresh(kind);
                known.insert(name.to_owned(), Value::String(fresh));
            }
            written.push_str(known[name].as_str().unwrap_or_default());
            rest = &rest[inside.len() + 2..];
        }
        written.push_str(rest);
        written
    }

    fn fresh(&mut self, kind: &str) -> String {
        for _ in 0..64 {
            let name = self.any(kind);
            if self.made.insert(name.clone()) {
                return name;
            }
        }
        self.any(kind)
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.choices.below(WORDS.len())]
    }

    fn number(&mut self, digits: u32) -> usize {
        let least = 10_usize.pow(digits - 1);
        least + self.choices.below(least * 9)
    }

    fn letters(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length)
            .map(|_| char::from(alphabet[self.choices.below(alphabet.len())]))
            .collect()
    }

    /// Any name of this kind.
    pub(super) fn any(&mut self, kind: &str) -> String {
        const HEX: &[u8] = b"0123456789abcdef";
        const MIXED: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghkmnpqrstuvwxyz23456789";
        let (one, two) = (self.word(), self.word());
        match kind {
            "file" => {
                let ending = ["rs", "py", "ts", "go", "sql", "md"][self.choices.below(6)];
                format!("src/{one}/{two}_{}.{ending}", self.number(2))
            }
            "dir" => format!("src/{one}/{two}{}", self.number(2)),
            "ident" => format!("{one}_{two}_{}", self.number(2)),
            "id" => match self.choices.below(3) {
                0 => format!(
                    "{}-{}",
                    self.letters(b"ABCDEFGHKLMNPRSTUVWXYZ", 2),
                    self.number(5)
                ),
                1 => format!("{}_{}", &one[..2], self.letters(MIXED, 8)),
                _ => format!(
                    "{}{}",
                    self.letters(b"ABCDEFGHKLMNPRSTUVWXYZ", 1),
                    self.number(6)
                ),
            },
            "hex" => self.letters(HEX, 12),
            "num" => {
                let digits = 3 + u32::try_from(self.choices.below(4)).unwrap_or(0);
                self.number(digits).to_string()
            }
            "amount" => format!("{}.{:02}", self.number(3), self.choices.below(100)),
            "person" => {
                let person = PERSONS[self.choices.below(PERSONS.len())];
                format!(
                    "{person}{}",
                    ["", " Jr.", "-Lund", "-Okafor"][self.choices.below(4)]
                )
            }
            "place" => PLACES[self.choices.below(PLACES.len())].to_owned(),
            "host" => format!("{one}-{}.internal", self.number(2)),
            "url" => format!("https://{one}.example/{two}/{}", self.number(4)),
            "version" => format!(
                "{}.{}.{}",
                1 + self.choices.below(9),
                self.number(2),
                self.choices.below(10)
            ),
            "branch" => format!("fix/{one}-{two}-{}", self.number(2)),
            "test" => format!("test_{one}_{two}_{}", self.number(2)),
            "pkg" => format!("{one}-{two}"),
            "date" => format!(
                "2026-{:02}-{:02}",
                1 + self.choices.below(12),
                1 + self.choices.below(28)
            ),
            "email" => format!("{one}.{two}{}@mail.example", self.number(2)),
            "room" => format!("{one} room {}", self.number(2)),
            _ => format!("{one}{two}"),
        }
    }
}
