//! What must still be known of a conversation after a compaction, as its file states it.

use serde_json::Value;
use serde_json::value::RawValue;

/// The most needs of a conversation, and the most pieces and texts of one.
const MOST: usize = 1_000;

/// The longest name of a kind in characters.
const KIND: usize = 20;

/// A fact that must still be known at the end of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// What kind of fact it is, such as `done`.
    pub kind: String,
    /// The texts that have to stand together, in lower case: of each list any one.
    pub pieces: Vec<Vec<String>>,
    /// Texts that would say the opposite, in lower case.
    pub not: Vec<String>,
}

/// Reads the needs beside a list of messages.
///
/// # Errors
/// They are malformed. The error says where, and contains no text of them.
pub(super) fn beside(needs: Option<&RawValue>) -> Result<Vec<Need>, String> {
    let Some(needs) = needs else {
        return Ok(Vec::new());
    };
    let needs: Vec<Value> = serde_json::from_str(needs.get())
        .map_err(|_| "expected a list of objects in `needs`".to_owned())?;
    if needs.len() > MOST {
        return Err(format!(
            "`needs` has more than {MOST} entries: {}",
            needs.len()
        ));
    }
    let numbered = needs.iter().enumerate();
    numbered
        .map(|(number, need)| need_of(need).map_err(|wrong| format!("`needs[{number}].{wrong}")))
        .collect()
}

/// Reads one need. An error continues its path inside of the backticks.
fn need_of(need: &Value) -> Result<Need, &'static str> {
    let kind = need["kind"].as_str().filter(|kind| {
        (1..=KIND).contains(&kind.len())
            && kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
    });
    let pieces = need["pieces"]
        .as_array()
        .filter(|pieces| (1..=MOST).contains(&pieces.len()));
    let pieces = pieces.ok_or("pieces` is missing, or no list of pieces")?;
    let pieces: Option<Vec<Vec<String>>> = pieces
        .iter()
        .map(|piece| texts(piece).filter(|texts| !texts.is_empty()))
        .collect();
    Ok(Need {
        kind: kind
            .ok_or("kind` is missing, or no word of up to 20 small letters")?
            .to_owned(),
        pieces: pieces.ok_or("pieces` holds a piece that is neither a text nor a list of texts")?,
        not: match &need["not"] {
            Value::Null => Vec::new(),
            not => texts(not).ok_or("not` is not a list of texts")?,
        },
    })
}

/// Returns a text, or the texts of a list, in lower case; `None` for anything else, and for empty texts.
fn texts(value: &Value) -> Option<Vec<String>> {
    let single = std::slice::from_ref(value);
    let values = value.as_array().map_or(single, Vec::as_slice);
    let texts = values.iter().map(|value| match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.to_lowercase()),
        _ => None,
    });
    texts.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(needs: &str) -> Result<Vec<Need>, String> {
        let raw = RawValue::from_string(needs.to_owned()).expect("JSON");
        beside(Some(&raw))
    }

    #[test]
    fn needs_are_read_in_lower_case() {
        let found = read(
            r#"[{"kind": "done", "pieces": ["RE-7", ["Refund", "erstatt"]], "not": ["Failed"]}]"#,
        );
        let expected = Need {
            kind: "done".to_owned(),
            pieces: vec![
                vec!["re-7".to_owned()],
                vec!["refund".to_owned(), "erstatt".to_owned()],
            ],
            not: vec!["failed".to_owned()],
        };
        assert_eq!(found, Ok(vec![expected]));
        assert_eq!(beside(None), Ok(Vec::new()));
    }

    #[test]
    fn malformed_needs_are_refused_with_their_place() {
        for (needs, said) in [
            ("{}", "expected a list of objects in `needs`"),
            (r#"[{"pieces": ["a"]}]"#, "`needs[0].kind` is missing"),
            (r#"[{"kind": "done"}]"#, "`needs[0].pieces` is missing"),
            (
                r#"[{"kind": "done", "pieces": [[]]}]"#,
                "neither a text nor a list",
            ),
            (
                r#"[{"kind": "done", "pieces": ["a"], "not": [3]}]"#,
                "`needs[0].not` is not a list",
            ),
        ] {
            let error = read(needs).expect_err(needs);
            assert!(error.contains(said), "{error}");
        }
    }
}
