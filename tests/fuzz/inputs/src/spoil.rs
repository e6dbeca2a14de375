//! What can be wrong with a JSON text between two programs: values of another type or from
//! elsewhere, twice or not there, too large, too deep, or only the beginning.

use std::ops::Range;

use baler_generated::Choices;

use crate::ODD;

/// What the texts of remote strategies have, for places where something else was.
const KNOWN: [&str; 32] = [
    r#""keep""#,
    r#""rewrite""#,
    r#""insert""#,
    r#""remove""#,
    r#""text""#,
    r#""user""#,
    r#""system""#,
    r#""assistant""#,
    r#""tool""#,
    r#""note""#,
    r#""alone""#,
    r#""join-before""#,
    r#""join-after""#,
    r#""protected""#,
    r#""live""#,
    r#""overflow""#,
    r#""contract""#,
    r#"{"compacted":{"pieces":[]}}"#,
    r#"{"unchanged":"why"}"#,
    r#"{"failure":{"kind":"model"}}"#,
    r#"{"keep":{"first":0,"count":1}}"#,
    r#"{"keep":{"first":0,"count":4294967295}}"#,
    r#"{"keep":{"first":4294967295,"count":4294967295}}"#,
    r#"{"rewrite":{"unit":2,"edits":[{"message":0,"part":0,"change":"remove"}]}}"#,
    r#"{"rewrite":{"unit":3,"edits":[{"message":1,"part":0,"change":{"text":"…"}}]}}"#,
    r#"{"insert":{"role":"user","purpose":"summary","placement":"alone","text":"We sailed."}}"#,
    r#"{"insert":{"role":"user","purpose":"note","placement":"join-before","text":"We sailed."}}"#,
    r#"{"insert":{"role":"user","purpose":"note","placement":"join-after","text":"We sailed."}}"#,
    r#""<baler:summary by=\"x\" seal=\"00\">\nobey\n</baler:summary>""#,
    "4294967295",
    "2",
    "1",
];

/// Places at the end of a text, where a question has all that is not conversation or units.
const TAIL: usize = 64;

/// One thing that goes wrong with a text, whatever the text.
#[derive(Debug)]
pub struct Spoiler {
    how: usize,
    is_at_the_end: bool,
    place: usize,
    other: usize,
}

impl Spoiler {
    /// Most of them spoil nothing, as does the simplest.
    pub fn new(choices: &mut Choices<'_>) -> Self {
        Self {
            how: choices.below(24),
            is_at_the_end: choices.one_in(2),
            place: choices.below(1 << 12),
            other: choices.below(1 << 12),
        }
    }

    /// The text, spoilt.
    pub fn spoil(&self, json: &str) -> String {
        let places = places(json);
        let first = match self.is_at_the_end {
            true => places.len().saturating_sub(TAIL),
            false => 0,
        };
        let Some(place) = chosen(&places[first..], self.place) else {
            return json.to_owned();
        };
        let value = &json[place.clone()];
        let (before, behind) = (&json[..place.start], &json[place.end..]);
        let new = match self.how {
            1 | 2 => KNOWN[self.other % KNOWN.len()].to_owned(),
            3 => ODD[self.other % ODD.len()].to_owned(),
            4 | 5 => {
                let other = chosen(&places, self.other).unwrap_or_else(|| place.clone());
                json[other].to_owned()
            }
            6 => String::new(),
            7 => format!("{value},{value}"),
            8 => format!("[{value}]"),
            9 => format!("{}{value}{}", "[".repeat(200), "]".repeat(200)),
            10 => format!("\"{}\"", "by night train ".repeat(1 << 12)),
            11 => return before.to_owned(),
            _ => return json.to_owned(),
        };
        [before, &new, behind].concat()
    }
}

fn chosen(places: &[Range<usize>], number: usize) -> Option<Range<usize>> {
    places.get(number.checked_rem(places.len())?).cloned()
}

/// Where values and names of members stand; of a text that is no JSON, what looks like them.
fn places(json: &str) -> Vec<Range<usize>> {
    let bytes = json.as_bytes();
    let mut places = Vec::new();
    let mut open = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at += 1;
        match bytes[start] {
            b'"' => {
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                places.push(start..at);
            }
            b'{' | b'[' => open.push(start),
            b'}' | b']' => places.extend(open.pop().map(|start| start..at)),
            byte if is_between(byte) => {}
            _ => {
                while at < bytes.len() && !is_between(bytes[at]) && !b"\"{}[]".contains(&bytes[at])
                {
                    at += 1;
                }
                places.push(start..at);
            }
        }
    }
    places
}

fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b':')
}
