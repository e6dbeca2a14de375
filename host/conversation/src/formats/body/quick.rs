//! Documents that are what they should be, in one pass: passes over the text are what reading
//! costs.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::{Body, List, Raw};
use crate::json::{self, Held, Key, Members, Object};
use crate::model::format::Format;

/// What [`Body::parse`] gives, or `None` if the document is anything else than a list of objects,
/// or an object with one such list.
pub(super) fn read<'a>(
    document: &'a str,
    trimmed: &'a str,
    format: Option<Format>,
) -> Option<Body<'a>> {
    let mut deserializer = serde_json::Deserializer::from_str(trimmed);
    let is_list = json::is_list(trimmed);
    let found = if is_list {
        let messages = serde::Deserialize::deserialize(&mut deserializer).ok()?;
        Found {
            members: None,
            list: List::Bare,
            key: "",
            messages,
        }
    } else {
        Request { format }.deserialize(&mut deserializer).ok()?
    };
    deserializer.end().ok()?;
    let before = if is_list { trimmed } else { found.key };
    let before = json::place_of(document, before);
    let from = if is_list { before.start } else { before.end };
    let start = from + document.get(from..)?.find('[')? + 1;
    let objects = json::placed(document, start, found.messages);
    let last = objects.last().map_or(start, |object| object.place.end);
    let end = last + document.get(last..)?.find(']')?;
    let raw = |object: Object<'a>| Raw {
        members: Some(object.members),
        place: object.place,
    };
    Some(Body {
        deadline: None,
        text: document,
        offset: 0,
        envelope: found.members,
        list: found.list,
        inside: start..end,
        is_single: false,
        messages: objects.into_iter().map(raw).collect(),
    })
}

/// A document taken apart.
struct Found<'a> {
    /// Those of the request, but for its messages.
    members: Option<Members<'a>>,
    list: List,
    /// The member that holds the messages, as it stands in the document.
    key: &'a str,
    messages: Vec<Held<'a>>,
}

struct Request {
    format: Option<Format>,
}

impl Request {
    /// Which list a member is, where only one can be meant.
    fn list(&self, key: &str) -> Option<List> {
        let list = List::IN_BODIES.into_iter().find(|list| list.key() == key)?;
        match self.format {
            Some(format) if format.facts().list != list => None,
            _ => Some(list),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Request {
    type Value = Found<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Request {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a request with one list of messages")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut others = Vec::new();
        let mut messages = None;
        while let Some(Key(key)) = map.next_key()? {
            match self.list(&key) {
                None => others.push((key, map.next_value()?)),
                // Which of two would count, and where an escaped key ends, others find out.
                Some(_) if messages.is_some() => return Err(A::Error::custom("two lists")),
                Some(list) => match key {
                    std::borrow::Cow::Borrowed(key) => {
                        messages = Some((list, key, map.next_value()?));
                    }
                    std::borrow::Cow::Owned(_) => return Err(A::Error::custom("an escaped key")),
                },
            }
        }
        let (list, key, messages) = messages.ok_or_else(|| A::Error::custom("no list"))?;
        Ok(Found {
            members: Some(Members::of(others)?),
            list,
            key,
            messages,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slowly(document: &str, format: Option<Format>) -> Option<Body<'_>> {
        let trimmed = document.trim_start_matches(['\u{feff}', ' ', '\n']);
        Body::parse_by_steps(document, trimmed, format).ok()
    }

    fn quickly(document: &str, format: Option<Format>) -> Option<Body<'_>> {
        let trimmed = document.trim_start_matches(['\u{feff}', ' ', '\n']);
        read(document, trimmed, format)
    }

    /// What a body is, without the member that holds the messages.
    fn all_of(body: Option<&Body<'_>>) -> Option<(List, String, Vec<String>, Vec<String>)> {
        let of = |members: &Members<'_>, without: &str| -> Vec<String> {
            let others = members.0.iter().filter(|(key, _)| key != without);
            others.map(|(key, raw)| format!("{key}={raw}")).collect()
        };
        body.map(|body| {
            let messages = body.messages.iter();
            (
                body.list,
                body.get(&body.inside).to_owned(),
                body.envelope
                    .as_ref()
                    .map(|members| of(members, body.list.key()))
                    .unwrap_or_default(),
                messages
                    .map(|raw| {
                        let members = raw.members.as_ref().expect("an object");
                        format!("{} {:?}", body.get(&raw.place), of(members, ""))
                    })
                    .collect(),
            )
        })
    }

    #[test]
    fn one_pass_gives_what_steps_give() {
        for document in [
            "[]",
            "\u{feff}\n [ ] ",
            r#"{"messages":[]}"#,
            r#"{"model":"m","messages":[{"role":"user","content":"]}"},{}, {"a":[{}]}],"tools":[{"x":"[{"}]}"#,
            "{ \"seed\": 1e0, \"input\"\n:\t[\n  {\"role\" : \"user\"}\n , { } ] , \"z\":[1, 2] } ",
            " [ {\"role\":\"user\"} , {\"b\\u0061\":\"\\\"}\"} ]\n",
        ] {
            let quick = quickly(document, None);
            assert_eq!(
                all_of(quick.as_ref()),
                all_of(slowly(document, None).as_ref())
            );
            assert!(quick.is_some(), "{document}");
        }
    }

    #[test]
    fn what_is_not_as_it_should_be_is_left_to_the_steps() {
        for document in [
            "",
            "7",
            "[1]",
            "[{}] x",
            r#"[{"a":1,"a":2}]"#,
            r#"{"messages":"text"}"#,
            r#"{"messages":[{}],"input":[{}]}"#,
            r#"{"m\u0065ssages":[{}]}"#,
            r#"{"messages":[{}],"model":1,"model":2}"#,
            r#"{"messages":[{}]"#,
            r#"{"input":"say hi"}"#,
            r#"{"contents":{"parts":{"text":"say hi"}}}"#,
            r#"{"prompt":[]}"#,
        ] {
            assert!(quickly(document, None).is_none(), "{document}");
        }
        let other = Some(Format::Gemini);
        assert!(quickly(r#"{"messages":[{}]}"#, other).is_none());
    }
}
