//! Raw JSON: slices of a document, found without copying or changing a byte of it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::exact::exact;

/// A place in the document.
pub type Place = Range<usize>;

/// Where `slice` lies in `document`. `slice` must have been borrowed from it.
pub(crate) fn place_of(document: &str, slice: &str) -> Place {
    let start = (slice.as_ptr() as usize).saturating_sub(document.as_ptr() as usize);
    start..start + slice.len()
}

/// `document` with another text in the place of `old`, which lies in it.
pub(crate) fn replaced(document: &str, old: &str, new: &str) -> String {
    let place = place_of(document, old);
    [&document[..place.start], new, &document[place.end..]].concat()
}

/// The members of an object, in order, each value raw. A key that comes twice is an error:
/// readers disagree on which one counts.
#[derive(Debug)]
pub struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// # Errors
    /// A key comes twice.
    pub(super) fn of<E: Error>(members: Vec<(Cow<'a, str>, &'a RawValue)>) -> Result<Self, E> {
        match twice(&members) {
            Some(key) => Err(E::custom(format_args!("key `{key}` comes twice"))),
            None => Ok(Self(members)),
        }
    }

    /// The raw value of a member.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0
            .iter()
            .find_map(|(name, value)| (name == key).then_some(*value))
    }

    /// The member, if it is there and not null.
    pub(crate) fn present(&self, key: &str) -> Option<&'a RawValue> {
        self.get(key).filter(|value| value.get() != "null")
    }

    /// The first of these members that is there and not null.
    pub(crate) fn first(&self, keys: &[&str]) -> Option<&'a RawValue> {
        keys.iter().find_map(|key| self.present(key))
    }

    /// The JSON of a member that is there and not null.
    pub(crate) fn raw(&self, key: &str) -> Option<&'a str> {
        self.present(key).map(RawValue::get)
    }

    /// Whether the member is `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.raw(key) == Some("true")
    }

    /// The member, if it is a text.
    pub(crate) fn text_value(&self, key: &str) -> Option<&'a RawValue> {
        self.get(key).filter(|value| is_text(value.get()))
    }

    /// The JSON of a member that is a text.
    pub(crate) fn raw_text(&self, key: &str) -> Option<&'a str> {
        self.text_value(key).map(RawValue::get)
    }

    /// The member as text, if it is a text.
    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.raw_text(key).map(decode)
    }

    /// The same as a text of its own; empty if it is none.
    pub(crate) fn string(&self, key: &str) -> String {
        self.text(key).unwrap_or_default().into_owned()
    }

    /// The members of a member that is an object.
    pub(crate) fn object(&self, key: &str) -> Option<Self> {
        members(self.get(key)?.get())
    }

    /// What a member that is an object has under a key, if it is there and not null.
    pub(crate) fn inside(&self, object: &str, key: &str) -> Option<&'a RawValue> {
        self.object(object)?.present(key)
    }

    /// The elements of a member that is a list.
    pub(crate) fn list(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// The sum of members that are whole numbers; those that are none count nothing.
    pub(crate) fn sum(&self, keys: &[&str]) -> u64 {
        keys.iter()
            .filter_map(|key| self.get(key)?.get().parse::<u64>().ok())
            .fold(0, u64::saturating_add)
    }
}

/// The members of raw JSON that is an object.
pub(crate) fn members(raw: &str) -> Option<Members<'_>> {
    serde_json::from_str(raw).ok()
}

/// Returns the objects of a list. Returns nothing if the value is not a list, or the list holds anything else.
pub(crate) fn all_objects(list: Option<&RawValue>) -> Vec<Members<'_>> {
    list.and_then(|list| serde_json::from_str(list.get()).ok())
        .unwrap_or_default()
}

/// An object that stands in a list.
pub(crate) struct Object<'a> {
    pub(crate) members: Members<'a>,
    /// Where it lies in the text of the list.
    pub(crate) place: Place,
}

/// The objects of a list, read one after the other: as objects in memory all of them would be many
/// times as large as their text.
pub(crate) struct Objects<'a> {
    list: &'a str,
    /// How far the list is read.
    at: usize,
    /// What the places of its elements count from.
    offset: usize,
}

/// The objects of a list, which has been read as JSON before; `None` if it is not a list. What is no
/// object is an error, and ends them.
pub(crate) fn objects(list: &str, offset: usize) -> Objects<'_> {
    Objects {
        list,
        at: if is_list(list) { 1 } else { list.len() },
        offset,
    }
}

impl Objects<'_> {
    /// Takes the next element, if it is a text.
    pub(crate) fn next_text(&mut self) -> Option<Place> {
        let start = self.next_element()?;
        let rest = self.list.get(start..).filter(|rest| is_text(rest))?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        values.next()?.ok()?;
        self.at = start + values.byte_offset();
        Some(self.offset + start..self.offset + self.at)
    }

    /// Where the next element begins.
    fn next_element(&mut self) -> Option<usize> {
        let rest = self.list.get(self.at..)?;
        let element = rest.trim_start_matches([' ', '\t', '\r', '\n', ',']);
        self.at = self.list.len() - element.len();
        (!element.is_empty() && !element.starts_with(']')).then_some(self.at)
    }
}

impl<'a> Iterator for Objects<'a> {
    type Item = Result<Object<'a>, serde_json::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.next_element()?;
        let rest = self.list.get(start..)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Members<'a>>();
        Some(match values.next()? {
            Ok(members) => {
                self.at = start + values.byte_offset();
                Ok(Object {
                    members,
                    place: self.offset + start..self.offset + self.at,
                })
            }
            Err(error) => {
                self.at = self.list.len();
                Err(error)
            }
        })
    }
}

/// Objects with their places. `text` holds their list, from `start` on, and has been read as JSON:
/// between two objects there is a comma, between an object's braces and what is in there nothing.
pub(super) fn placed<'a>(text: &str, start: usize, all: Vec<Held<'a>>) -> Vec<Object<'a>> {
    let next = |from: usize, sign| {
        text.get(from..)
            .and_then(|rest| rest.find(sign))
            .map_or(text.len(), |at| from + at)
    };
    let mut end = start;
    all.into_iter()
        .map(|Held(members)| {
            let start = next(end, '{');
            let inside = members
                .0
                .last()
                .map_or(start + 1, |(_, value)| place_of(text, value.get()).end);
            end = (next(inside, '}') + 1).min(text.len());
            Object {
                members,
                place: start..end,
            }
        })
        .collect()
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    members.push((key.0, map.next_value()?));
                }
                Members::of(members)
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// Members that are held while others are read, and therefore take no more memory than they need.
pub(super) struct Held<'a>(pub(super) Members<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Held<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::deserialize(deserializer)?;
        exact(&mut members.0);
        Ok(Self(members))
    }
}

/// Up to so many keys are compared with each other, which is quicker than a set of them.
const FEW: usize = 24;

/// A key that comes twice.
fn twice<'m>(members: &'m [(Cow<'_, str>, &RawValue)]) -> Option<&'m str> {
    if members.len() > FEW {
        let mut seen = HashSet::with_capacity(members.len());
        return members
            .iter()
            .map(|(key, _)| key.as_ref())
            .find(|key| !seen.insert(*key));
    }
    members.iter().enumerate().find_map(|(index, (key, _))| {
        members[..index]
            .iter()
            .any(|(other, _)| other == key)
            .then_some(key.as_ref())
    })
}

/// A key, borrowed where it holds no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Key<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// White space, as JSON has it.
pub(crate) const WHITE: [char; 4] = [' ', '\t', '\r', '\n'];

/// What may come before JSON in a document.
pub(crate) const BEFORE: [char; 5] = ['\u{feff}', ' ', '\t', '\r', '\n'];

/// Whether raw JSON is a string.
pub fn is_text(raw: &str) -> bool {
    raw.starts_with('"')
}

pub(crate) fn is_list(raw: &str) -> bool {
    raw.starts_with('[')
}

pub(crate) fn is_object(raw: &str) -> bool {
    raw.starts_with('{')
}

/// Whether this is a list without elements.
pub(crate) fn is_empty_list(raw: &str) -> bool {
    let inner = raw.strip_prefix('[').and_then(|raw| raw.strip_suffix(']'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

/// The text of a raw JSON string. Half of a surrogate pair, which JSON can spell and Unicode
/// cannot, becomes one U+FFFD: only what is read, never what is written back.
pub(crate) fn decode(raw: &str) -> Cow<'_, str> {
    struct Reader;
    impl<'de> Visitor<'de> for Reader {
        type Value = Cow<'de, str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text")
        }

        fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
            Ok(without_halves(bytes))
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
            Ok(Cow::Owned(without_halves(bytes).into_owned()))
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(raw);
    deserializer.deserialize_bytes(Reader).unwrap_or_default()
}

/// The text of bytes in which halves of surrogate pairs are spelled like other characters, in three
/// bytes. One U+FFFD has as many.
fn without_halves(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut bytes = bytes.to_vec();
    for at in 2..bytes.len() {
        // No other character is spelled so.
        if bytes[at - 2] == 0xED && bytes[at - 1] >= 0xA0 {
            bytes[at - 2..=at].copy_from_slice("\u{fffd}".as_bytes());
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// The characters of a raw JSON string, read one by one: who looks at the beginning of a long text
/// pays for no more of it. `None` if it is not a string.
pub fn chars(raw: &str) -> impl Iterator<Item = char> + '_ {
    let mut rest = raw.strip_prefix('"').unwrap_or_default();
    std::iter::from_fn(move || {
        let mut next = rest.chars();
        let first = next.next()?;
        if first == '"' {
            rest = "";
            return None;
        }
        let escape = if first == '\\' { next.next() } else { None };
        rest = next.as_str();
        Some(match escape {
            None => first,
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => {
                let (character, after) = unicode(rest)?;
                rest = after;
                character
            }
            Some(own) => own,
        })
    })
}

/// The character whose `\u` escape goes on with `digits`, and what stands after it.
fn unicode(digits: &str) -> Option<(char, &str)> {
    let unit = |digits: &str| u16::from_str_radix(digits.get(..4)?, 16).ok();
    let first = unit(digits)?;
    let rest = digits.get(4..)?;
    let pair = rest.strip_prefix("\\u").and_then(|low| {
        let both = char::decode_utf16([first, unit(low)?]).next()?.ok()?;
        // A first unit that is a character by itself leaves the second one alone.
        (0xD800..0xDC00)
            .contains(&first)
            .then_some((both, low.get(4..)?))
    });
    pair.or_else(|| {
        let alone = char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER);
        Some((alone, rest))
    })
}

/// Whether a raw JSON string is nothing, or nothing but white space.
pub(crate) fn is_blank(raw: &str) -> bool {
    chars(raw).all(char::is_whitespace)
}

/// Whether an object anywhere in raw JSON has a member of one of these names, however its key is
/// spelled. `names` are of ASCII letters and underscores.
pub(crate) fn has_member_within(raw: &str, names: &[&str]) -> bool {
    // Nothing else can spell a letter.
    if !raw.contains("\\u") && !names.iter().any(|name| raw.contains(name)) {
        return false;
    }
    let mut rest = raw;
    while let Some(start) = rest.find('"') {
        let (text, after) = rest[start..].split_at(end_of_text(&rest[start..]));
        let is_key = after.trim_start_matches(WHITE).starts_with(':');
        if is_key && names.iter().any(|name| chars(text).eq(name.chars())) {
            return true;
        }
        rest = after;
    }
    false
}

/// Where the JSON string ends that `raw` begins with.
fn end_of_text(raw: &str) -> usize {
    let mut is_escaped = true;
    raw.bytes()
        .position(|byte| {
            // The first byte is the quotation mark that opens it.
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        })
        .map_or(raw.len(), |end| end + 1)
}

/// `text` as a JSON string.
pub fn encode(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// serde_json counts lines and columns from the slice it was given, which is not the document.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_is_read_as_a_replacement_character() {
        assert_eq!(decode(r#""a\ud83db""#), "a\u{fffd}b");
        // Both halves, in the wrong order and apart; and characters that are spelled nearly alike.
        assert_eq!(
            decode(r#""\udd80\ud83e \ud83e""#),
            "\u{fffd}\u{fffd} \u{fffd}"
        );
        assert_eq!(
            decode("\"\u{d7ff}\u{e000}\\udfff\""),
            "\u{d7ff}\u{e000}\u{fffd}"
        );
    }

    #[test]
    fn characters_are_those_of_the_decoded_text() {
        for raw in [
            r#""""#,
            r#""plain""#,
            r#""\u003cbaler: \u003C \/ \\ \" \b\f\n\r\t""#,
            r#""\ud83e\udd80 \uD83E\uDD80 \u00e9\u0041""#,
            r#""日本語 🦀""#,
        ] {
            assert_eq!(chars(raw).collect::<String>(), decode(raw), "{raw}");
        }
        // Half of a pair, with and without another escape after it.
        let halves: String = chars(r#""a\ud83db\ud83d\u0041\udd80""#).collect();
        assert_eq!(halves, "a\u{fffd}b\u{fffd}A\u{fffd}");
        for raw in ["{}", "1", "", "\"", r#""\"#, r#""\u12"#, r#""\ud83e\u"#] {
            assert!(chars(raw).count() <= 1, "{raw}");
        }
    }

    #[test]
    fn blank_is_blank_in_every_spelling() {
        for raw in [
            r#""""#.to_owned(),
            r#""\u0020\n\u3000 ""#.to_owned(),
            format!("\"{}\"", "\\u0020".repeat(1_000)),
        ] {
            assert!(is_blank(&raw), "{raw}");
        }
        assert!(!is_blank(r#""\u0020\u0061""#));
    }

    #[test]
    fn members_are_found_by_name_at_any_depth_and_texts_are_not() {
        let has = |raw| has_member_within(raw, &["signature"]);
        for raw in [
            r#"{"signature":1}"#,
            r#"{"a":[{"b":{"signature" : "x"}}]}"#,
            r#"{"a":"\\","s\u0069gnature"
                :null}"#,
            r#"{"\u0073\u0069\u0067\u006E\u0061\u0074\u0075\u0072\u0065":0}"#,
        ] {
            assert!(has(raw), "{raw}");
        }
        for raw in [
            r#"{"a":"signature"}"#,
            r#"{"a":"\"signature\":"}"#,
            r#"{"a":"\\\"signature\":","b":"\u0061"}"#,
            r#"{"signatures":1,"my_signature":2,"\u0061":3}"#,
        ] {
            assert!(!has(raw), "{raw}");
        }
    }

    #[test]
    fn what_was_encoded_decodes_to_itself() {
        let text = "línea 1\n\"quoted\" \\ \u{1}\u{7f} 日本語 🦀";
        assert_eq!(decode(&encode(text)), text);
    }

    #[test]
    fn objects_of_a_list_lie_where_their_text_is() {
        let list = "[ {} ,{\"a\":\"}{\"} , { \"b\" : { \"c\" : [ {} ] } , \"d\":1 } ,{ }] ";
        let raws: Vec<&RawValue> = serde_json::from_str(list).expect("a list");
        let expected: Vec<&str> = raws.iter().map(|raw| raw.get()).collect();
        let found: Vec<&str> = objects(list, 0)
            .map(|object| &list[object.expect("an object").place])
            .collect();
        assert_eq!(found, expected);
        assert_eq!(found.len(), 4);
        let all = serde_json::from_str(list).expect("objects");
        let found: Vec<&str> = placed(list, 1, all)
            .into_iter()
            .map(|object| &list[object.place])
            .collect();
        assert_eq!(found, expected);
        assert_eq!(objects("[]", 0).count(), 0);
        assert_eq!(objects(r#"{"a":[{}]}"#, 0).count(), 0);
        let wrong: Vec<bool> = objects("[{}, 1, {}]", 0).map(|own| own.is_ok()).collect();
        assert_eq!(wrong, [true, false]);
    }

    #[test]
    fn texts_between_the_objects_of_a_list_are_taken_one_by_one() {
        let list = r#"[ "a,]\"" ,{}, "b"]"#;
        let mut elements = objects(list, 100);
        let text = elements.next_text().expect("a text");
        assert_eq!(&list[text.start - 100..text.end - 100], r#""a,]\"""#);
        assert_eq!(elements.next_text(), None);
        assert!(elements.next().is_some_and(|object| object.is_ok()));
        assert_eq!(elements.next_text().map(|text| text.len()), Some(3));
        assert_eq!(elements.next_text(), None);
        assert!(elements.next().is_none());
    }

    #[test]
    fn held_members_take_no_more_memory_than_they_need() {
        for (object, count) in [("{}", 0), (r#"{"a":1}"#, 1), (r#"{"a":1,"b":2,"c":3}"#, 3)] {
            let Held(members) = serde_json::from_str(object).expect("an object");
            assert_eq!((members.0.len(), members.0.capacity()), (count, count));
        }
    }

    #[test]
    fn key_that_comes_twice_is_an_error() {
        assert!(serde_json::from_str::<Members<'_>>(r#"{"a":1,"\u0061":2}"#).is_err());
        let many: Vec<String> = (0..1_000).map(|key| format!(r#""k{key}":1"#)).collect();
        assert!(serde_json::from_str::<Members<'_>>(&format!("{{{}}}", many.join(","))).is_ok());
        let twice = format!(r#"{{{},"k7":2}}"#, many.join(","));
        assert!(serde_json::from_str::<Members<'_>>(&twice).is_err());
    }
}
