//! Changes of objects and lists that touch no other byte of them.

use crate::formats::Replacement;
use crate::json::{self, Members, Place, WHITE};

/// Where the value of the first of `keys` lies that `object` has. `object` begins at `offset`
/// of the document.
pub(super) fn member(object: &str, offset: usize, keys: &[&str]) -> Option<Place> {
    let members: Members<'_> = serde_json::from_str(object).ok()?;
    let value = keys.iter().find_map(|key| members.get(key))?;
    Some(moved(json::place_of(object, value.get()), offset))
}

/// How to take the member out, with the comma that it needs no more.
pub(super) fn without_member(object: &str, offset: usize, key: &str) -> Option<Replacement> {
    let members: Members<'_> = serde_json::from_str(object).ok()?;
    let at = members.0.iter().position(|(name, _)| name == key)?;
    let end = |index: usize| {
        let (_, value) = members.0.get(index)?;
        Some(json::place_of(object, value.get()).end)
    };
    let place = match at.checked_sub(1) {
        Some(before) => end(before)?..end(at)?,
        None => {
            let start = object.len() - object.strip_prefix('{')?.trim_start_matches(WHITE).len();
            let rest = object.get(end(at)?..)?.trim_start_matches(WHITE);
            // The next key; or the brace that closes an object without any other.
            let next = rest.strip_prefix(',').unwrap_or(rest);
            start..object.len() - next.trim_start_matches(WHITE).len()
        }
    };
    Some(Replacement::of(moved(place, offset), ""))
}

/// How to give the object a member after all others.
pub(super) fn with_member(
    object: &str,
    offset: usize,
    key: &str,
    value: &str,
) -> Option<Replacement> {
    let inner = object.strip_suffix('}')?.trim_end_matches(WHITE);
    let comma = if inner == "{" { "" } else { "," };
    let place = moved(inner.len()..inner.len(), offset);
    let with = format!("{comma}{}:{value}", json::encode(key));
    Some(Replacement { place, with })
}

/// How to take elements out of a list. `elements` are the places of all, with whether each one
/// goes.
pub(super) fn without_elements(elements: &[(Place, bool)]) -> Vec<Replacement> {
    let mut stays_before = false;
    let mut removed = Vec::new();
    for (index, (place, goes)) in elements.iter().enumerate() {
        if !goes {
            stays_before = true;
            continue;
        }
        let before = index.checked_sub(1).and_then(|before| elements.get(before));
        let place = match (before.filter(|_| stays_before), elements.get(index + 1)) {
            (Some((before, _)), _) => before.end..place.end,
            (None, Some((next, _))) => place.start..next.start,
            (None, None) => place.clone(),
        };
        removed.push(Replacement::of(place, ""));
    }
    removed
}

fn moved(place: Place, offset: usize) -> Place {
    offset + place.start..offset + place.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(text: &str, replacements: &[Replacement]) -> String {
        let document = crate::model::document::Document::from(text);
        crate::formats::replace(&document, &(0..text.len()), replacements)
    }

    #[test]
    fn member_goes_with_its_comma_and_nothing_else() {
        for (object, expected) in [
            (r#"{"x":1}"#, "{}"),
            (r#"{ "x" : 1 }"#, "{ }"),
            (r#"{ "x" : [1] , "b": 2 }"#, r#"{ "b": 2 }"#),
            (r#"{"a":1, "x" : "," }"#, r#"{"a":1 }"#),
            (r#"{"a":1,"\u0078":2,"b":3}"#, r#"{"a":1,"b":3}"#),
        ] {
            let removed = without_member(object, 0, "x").expect("is there");
            assert_eq!(apply(object, &[removed]), expected, "{object}");
        }
    }

    #[test]
    fn member_comes_behind_all_others() {
        for (object, expected) in [
            ("{}", r#"{"x":[]}"#),
            ("{ }", r#"{"x":[] }"#),
            ("{\"a\": 1\n}", "{\"a\": 1,\"x\":[]\n}"),
        ] {
            let added = with_member(object, 0, "x", "[]").expect("is an object");
            assert_eq!(apply(object, &[added]), expected);
        }
    }

    #[test]
    fn elements_go_with_their_commas() {
        let list = "[ 1, 22 ,3 ]";
        let places = [2..3, 5..7, 9..10];
        for (goes, expected) in [
            ([true, false, false], "[ 22 ,3 ]"),
            ([false, true, false], "[ 1 ,3 ]"),
            ([false, false, true], "[ 1, 22 ]"),
            ([true, true, false], "[ 3 ]"),
            ([true, false, true], "[ 22 ]"),
            ([false, true, true], "[ 1 ]"),
            ([true, true, true], "[  ]"),
        ] {
            let elements: Vec<_> = places.iter().cloned().zip(goes).collect();
            assert_eq!(
                apply(list, &without_elements(&elements)),
                expected,
                "{goes:?}"
            );
        }
    }
}
