//! Questions that a set asks about a conversation, and where it says that the answers stand.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::normalised::normalised;
use crate::reading::{Said, Who};

/// The most answers and earlier values of all questions about a conversation, and the most messages that
/// they name: a text is searched for each of them.
const MOST: usize = 10_000;

/// The most earlier values of one answer.
const MOST_OUTDATED: usize = 100;

/// A question about a conversation. What it asks is for people: nothing that compacts knows of
/// it, and nothing here needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The short answer; of a fact that was updated, its newest value.
    pub answer: String,
    /// Which messages hold it, one at least: 0 is the first.
    pub evidence: Vec<usize>,
    /// Values that the answer had before.
    pub outdated: Vec<String>,
}

/// The questions beside a list of messages in this format. An error says where in the JSON
/// something is wrong, and holds no text of a message or an answer.
pub(super) fn beside(
    messages: &RawValue,
    format: &str,
    questions: Option<&RawValue>,
) -> Result<Vec<Question>, String> {
    let Some(questions) = questions else {
        return Ok(Vec::new());
    };
    let questions: Vec<Value> = serde_json::from_str(questions.get())
        .map_err(|_| "`questions` is no list of questions".to_owned())?;
    let messages = Messages::read(format, messages)?;
    let numbered = questions.iter().enumerate();
    let questions: Vec<Question> = numbered
        .map(|(number, question)| {
            question_of(question, &messages).map_err(|wrong| format!("`questions[{number}]{wrong}"))
        })
        .collect::<Result<_, String>>()?;
    check_number(&questions)?;
    Ok(questions)
}

/// # Errors
/// There are more than can be searched for.
fn check_number(questions: &[Question]) -> Result<(), String> {
    let values = questions.iter().map(|question| 1 + question.outdated.len());
    let values: usize = values.sum();
    if values > MOST {
        return Err(format!(
            "`questions` have more than {MOST} answers and `outdated` values together: {values}"
        ));
    }
    let named = questions.iter().flat_map(|question| &question.evidence);
    let named: HashSet<&usize> = named.collect();
    if named.len() > MOST {
        let named = named.len();
        return Err(format!(
            "`questions` name more than {MOST} messages as `evidence`: {named}"
        ));
    }
    Ok(())
}

/// The messages, as far as a question can name them.
struct Messages {
    said: Vec<Said>,
    /// The place of each `id`; `None` where several have it.
    places: HashMap<String, Option<usize>>,
}

impl Messages {
    fn read(format: &str, messages: &RawValue) -> Result<Self, String> {
        let messages: Vec<&RawValue> = serde_json::from_str(messages.get()).map_err(|_| {
            "`questions` stand beside something that is no list of messages".to_owned()
        })?;
        let mut places: HashMap<String, Option<usize>> = HashMap::new();
        let mut said = Vec::with_capacity(messages.len());
        for (place, raw) in messages.iter().enumerate() {
            let message: Value = serde_json::from_str(raw.get()).unwrap_or_default();
            if let Some(id) = message["id"].as_str() {
                let known = places.entry(id.to_owned());
                known
                    .and_modify(|known| *known = None)
                    .or_insert(Some(place));
            }
            said.push(Said::read(format, raw.get()));
        }
        Ok(Self { said, places })
    }
}

/// Errors begin inside the backticks, behind the question's own place.
fn question_of(question: &Value, messages: &Messages) -> Result<Question, String> {
    if !question.is_object() {
        return Err("` is no object".to_owned());
    }
    if !question["question"].is_string() {
        return Err(".question` is missing, or no text".to_owned());
    }
    let answer = text_of(&question["answer"])
        .ok_or(".answer` is missing, or neither a text nor a number")?;
    if normalised(&answer).is_empty() {
        return Err(".answer` has neither a letter nor a digit to look for".to_owned());
    }
    let named = match question["evidence"].as_array() {
        None => return Err(".evidence` is missing, or no list of messages".to_owned()),
        Some(named) if named.is_empty() => return Err(".evidence` names no message".to_owned()),
        Some(named) => named,
    };
    let mut evidence = Vec::new();
    let mut known = HashSet::new();
    for (number, name) in named.iter().enumerate() {
        let place =
            place_of(name, messages).map_err(|wrong| format!(".evidence[{number}]` {wrong}"))?;
        if known.insert(place) {
            evidence.push(place);
        }
    }
    Ok(Question {
        outdated: outdated(&question["outdated"], &answer)?,
        answer,
        evidence,
    })
}

fn place_of(name: &Value, messages: &Messages) -> Result<usize, String> {
    let place = match name {
        Value::String(id) => {
            let place = messages.places.get(id);
            let place = place.ok_or("is an `id` that no message has")?;
            place.ok_or("is an `id` that several messages have")?
        }
        Value::Number(number) => {
            let place = number
                .as_u64()
                .and_then(|place| usize::try_from(place).ok());
            place.ok_or_else(|| format!("is no place in a list: {number}"))?
        }
        _ => return Err("is neither a place nor an `id` of a message".into()),
    };
    let count = messages.said.len();
    let said = messages
        .said
        .get(place)
        .ok_or_else(|| format!("is past the end, where there are {count} messages: {place}"))?;
    if said.who == Who::Instructions {
        return Err(format!(
            "names an instruction, which stays in any case: {place}"
        ));
    }
    if said.words().next().is_none() {
        return Err(format!("names a message without text to look for: {place}"));
    }
    Ok(place)
}

fn outdated(values: &Value, answer: &str) -> Result<Vec<String>, String> {
    let values = match values {
        Value::Null => return Ok(Vec::new()),
        Value::Array(values) => values,
        _ => return Err(".outdated` is no list of earlier answers".to_owned()),
    };
    if values.len() > MOST_OUTDATED {
        let count = values.len();
        return Err(format!(
            ".outdated` has more than {MOST_OUTDATED} values: {count}"
        ));
    }
    let numbered = values.iter().enumerate();
    numbered
        .map(|(number, value)| {
            old_value(value, answer).map_err(|wrong| format!(".outdated[{number}]` {wrong}"))
        })
        .collect()
}

fn old_value(value: &Value, answer: &str) -> Result<String, &'static str> {
    let value = text_of(value).ok_or("is neither a text nor a number")?;
    let plain = normalised(&value);
    if plain.is_empty() {
        return Err("has neither a letter nor a digit to look for");
    }
    if plain == normalised(answer) {
        return Err("is the answer itself");
    }
    Ok(value)
}

/// A text, or a number as it is written.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A talk in which each kind of message stands once that can be named, or cannot.
    fn read(questions: &Value) -> Result<Vec<Question>, String> {
        let messages = json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "id": "m1", "content": "Mio likes fish."},
            {"role": "assistant", "id": "m2", "content": ""},
            {"role": "user", "id": "m3", "content": "Rather chicken, of late."},
            {"role": "assistant", "id": "m3", "content": "Noted."},
        ]);
        let raw = |value: &Value| serde_json::value::to_raw_value(value).unwrap();
        beside(&raw(&messages), "openai-chat", Some(&raw(questions)))
    }

    fn one(member: &str, value: Value) -> Value {
        let mut question =
            json!({"question": "What does Mio like?", "answer": "chicken", "evidence": [3]});
        question[member] = value;
        json!([question])
    }

    #[test]
    fn messages_are_named_by_place_or_id() {
        let found = read(&json!([
            {"question": "What does Mio like?", "answer": "chicken", "evidence": ["m1", 3, 1],
                "outdated": ["fish"], "category": "cats"},
            {"question": "How many are there?", "answer": 1, "evidence": [1]},
        ]));
        let expected = [
            Question {
                answer: "chicken".to_owned(),
                evidence: vec![1, 3],
                outdated: vec!["fish".to_owned()],
            },
            Question {
                answer: "1".to_owned(),
                evidence: vec![1],
                outdated: Vec::new(),
            },
        ];
        assert_eq!(found.unwrap(), expected);
        assert_eq!(read(&json!([])), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_without_any_text() {
        for (questions, expected) in [
            (json!({}), "`questions` is no list of questions"),
            (json!(["Who?"]), "`questions[0]` is no object"),
            (
                json!([one("answer", json!("fish"))[0], {"answer": "a", "evidence": [1]}]),
                "`questions[1].question` is missing, or no text",
            ),
            (
                one("answer", Value::Null),
                "`questions[0].answer` is missing, or neither a text nor a number",
            ),
            (
                one("answer", json!("?!")),
                "`questions[0].answer` has neither a letter nor a digit to look for",
            ),
            (
                one("evidence", json!(3)),
                "`questions[0].evidence` is missing, or no list of messages",
            ),
            (
                one("evidence", json!([])),
                "`questions[0].evidence` names no message",
            ),
            (
                one("evidence", json!([1, 5])),
                "`questions[0].evidence[1]` is past the end, where there are 5 messages: 5",
            ),
            (
                one("evidence", json!([-1])),
                "`questions[0].evidence[0]` is no place in a list: -1",
            ),
            (
                one("evidence", json!([1.5])),
                "`questions[0].evidence[0]` is no place in a list: 1.5",
            ),
            (
                one("evidence", json!([null])),
                "`questions[0].evidence[0]` is neither a place nor an `id` of a message",
            ),
            (
                one("evidence", json!(["chicken"])),
                "`questions[0].evidence[0]` is an `id` that no message has",
            ),
            (
                one("evidence", json!(["m3"])),
                "`questions[0].evidence[0]` is an `id` that several messages have",
            ),
            (
                one("evidence", json!([0])),
                "`questions[0].evidence[0]` names an instruction, which stays in any case: 0",
            ),
            (
                one("evidence", json!([2])),
                "`questions[0].evidence[0]` names a message without text to look for: 2",
            ),
            (
                one("outdated", json!("fish")),
                "`questions[0].outdated` is no list of earlier answers",
            ),
            (
                one("outdated", json!(["fish", {}])),
                "`questions[0].outdated[1]` is neither a text nor a number",
            ),
            (
                one("outdated", json!(["--"])),
                "`questions[0].outdated[0]` has neither a letter nor a digit to look for",
            ),
            (
                one("outdated", json!(["Chicken!"])),
                "`questions[0].outdated[0]` is the answer itself",
            ),
        ] {
            assert_eq!(read(&questions), Err(expected.to_owned()));
        }
    }

    #[test]
    fn more_than_can_be_searched_for_is_refused() {
        let question = one("outdated", json!([]))[0].clone();
        assert_eq!(
            read(&json!(vec![question.clone(); MOST])).map(|found| found.len()),
            Ok(MOST)
        );
        assert_eq!(
            read(&json!(vec![question; MOST + 1])),
            Err(
                "`questions` have more than 10000 answers and `outdated` values together: 10001"
                    .to_owned()
            )
        );
        let old = |count: usize| one("outdated", json!(vec!["fish"; count]));
        assert!(read(&old(MOST_OUTDATED)).is_ok());
        assert_eq!(
            read(&old(MOST_OUTDATED + 1)),
            Err("`questions[0].outdated` has more than 100 values: 101".to_owned())
        );
        assert_eq!(
            read(&json!(vec![old(99)[0].clone(); MOST / 100 + 1])),
            Err(
                "`questions` have more than 10000 answers and `outdated` values together: 10100"
                    .to_owned()
            )
        );
    }

    /// What `evidence` names of so many messages, of which each has an `id`.
    fn named(count: usize, evidence: &[String]) -> Result<usize, String> {
        let messages: Vec<Value> = (0..count)
            .map(|place| json!({"role": "user", "id": format!("m{place}"), "content": "Fish."}))
            .collect();
        let questions =
            json!([{"question": "What is it?", "answer": "fish", "evidence": evidence}]);
        let raw = |value: &Value| serde_json::value::to_raw_value(value).unwrap();
        let found = beside(
            &raw(&json!(messages)),
            "openai-chat",
            Some(&raw(&questions)),
        );
        found.map(|found| found[0].evidence.len())
    }

    #[test]
    fn evidence_of_many_messages_is_found_however_often_they_are_named() {
        let ids: Vec<String> = (0..=MOST).map(|place| format!("m{place}")).collect();
        // Each is named by many names.
        let names: Vec<String> = ids[..MOST]
            .iter()
            .rev()
            .cycle()
            .take(200_000)
            .cloned()
            .collect();
        assert_eq!(named(MOST, &names), Ok(MOST));
        assert_eq!(
            named(MOST + 1, &ids),
            Err("`questions` name more than 10000 messages as `evidence`: 10001".to_owned())
        );
    }
}
