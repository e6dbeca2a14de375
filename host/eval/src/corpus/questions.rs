//! Questions about a conversation, and which of its messages hold the answers.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::message::{Message, Role};
use crate::words::normalize;

/// The most answers and outdated values of all questions about a conversation together, and the most messages
/// that they name: a text is searched for each of them.
const MAX_VALUES: usize = 10_000;

/// A question about a conversation. The wording of the question is for people and is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The short answer. If a fact was updated, this is its newest value.
    pub answer: String,
    /// What else the answer consists of, if it was given as a list. It has to be in the same line.
    pub further: Vec<String>,
    /// Indices of the messages that hold the answer, at least one.
    pub evidence: Vec<usize>,
    /// Earlier values of the answer.
    pub outdated: Vec<String>,
}

/// Reads the questions about a list of messages in this format.
///
/// # Errors
/// The questions are malformed. The error says where, and contains no text of a message or an answer.
pub(super) fn beside(
    messages: &RawValue,
    format: &str,
    questions: Option<&RawValue>,
) -> Result<Vec<Question>, String> {
    let Some(questions) = questions else {
        return Ok(Vec::new());
    };
    let questions: Vec<Value> = serde_json::from_str(questions.get())
        .map_err(|_| "expected a list of questions in `questions`".to_owned())?;
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

/// Checks the number of values and messages.
///
/// # Errors
/// There are more than can be searched for.
fn check_number(questions: &[Question]) -> Result<(), String> {
    let values = questions
        .iter()
        .map(|question| 1 + question.further.len() + question.outdated.len());
    let values: usize = values.sum();
    if values > MAX_VALUES {
        return Err(format!(
            "`questions` have more than {MAX_VALUES} answers and `outdated` values together: {values}"
        ));
    }
    let named = questions.iter().flat_map(|question| &question.evidence);
    let named: HashSet<&usize> = named.collect();
    if named.len() > MAX_VALUES {
        let named = named.len();
        return Err(format!(
            "`questions` name more than {MAX_VALUES} messages as `evidence`: {named}"
        ));
    }
    Ok(())
}

/// The messages that questions can name.
struct Messages {
    list: Vec<Message>,
    /// The index of the message with each `id`; `None` if several messages have it.
    places: HashMap<String, Option<usize>>,
}

impl Messages {
    fn read(format: &str, messages: &RawValue) -> Result<Self, String> {
        let messages: Vec<&RawValue> = serde_json::from_str(messages.get())
            .map_err(|_| "expected a list of messages beside `questions`".to_owned())?;
        let mut places: HashMap<String, Option<usize>> = HashMap::new();
        let mut list = Vec::with_capacity(messages.len());
        for (place, raw) in messages.iter().enumerate() {
            let message: Value = serde_json::from_str(raw.get()).unwrap_or_default();
            if let Some(id) = message["id"].as_str() {
                let known = places.entry(id.to_owned());
                known
                    .and_modify(|known| *known = None)
                    .or_insert(Some(place));
            }
            list.push(Message::read(format, raw.get()));
        }
        Ok(Self { list, places })
    }
}

/// Reads one question. An error continues the path of the question inside its backticks.
fn question_of(question: &Value, messages: &Messages) -> Result<Question, String> {
    if !question.is_object() {
        return Err("` is not an object".to_owned());
    }
    if !question["question"].is_string() {
        return Err(".question` is missing or not a text".to_owned());
    }
    let (answer, further) = answer_of(&question["answer"])?;
    let named = match question["evidence"].as_array() {
        None => return Err(".evidence` is missing or not a list of messages".to_owned()),
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
        further,
        evidence,
    })
}

/// Returns the answer, and what else it consists of.
fn answer_of(value: &Value) -> Result<(String, Vec<String>), String> {
    let single = std::slice::from_ref(value);
    let pieces = value.as_array().map_or(single, Vec::as_slice);
    let mut texts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let text = text_of(piece)
            .ok_or(".answer` is missing or neither a text, a number nor a list of these")?;
        if normalize(&text).is_empty() {
            return Err(".answer` has neither a letter nor a digit to look for".to_owned());
        }
        texts.push(text);
    }
    let mut texts = texts.into_iter();
    let answer = texts.next().ok_or(".answer` is an empty list")?;
    Ok((answer, texts.collect()))
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
            place.ok_or_else(|| format!("is not an index: {number}"))?
        }
        _ => return Err("is neither an index nor an `id` of a message".into()),
    };
    let count = messages.list.len();
    let message = messages
        .list
        .get(place)
        .ok_or_else(|| format!("is past the end of {count} messages: {place}"))?;
    if message.role == Role::Instructions {
        return Err(format!(
            "names an instruction, which is never removed: {place}"
        ));
    }
    if message.texts().next().is_none() {
        return Err(format!("names a message without text to look for: {place}"));
    }
    Ok(place)
}

fn outdated(values: &Value, answer: &str) -> Result<Vec<String>, String> {
    let values = match values {
        Value::Null => return Ok(Vec::new()),
        Value::Array(values) => values,
        _ => return Err(".outdated` is not a list of earlier answers".to_owned()),
    };
    let numbered = values.iter().enumerate();
    numbered
        .map(|(number, value)| {
            old_value(value, answer).map_err(|wrong| format!(".outdated[{number}]` {wrong}"))
        })
        .collect()
}

fn old_value(value: &Value, answer: &str) -> Result<String, &'static str> {
    let value = text_of(value).ok_or("is neither a text nor a number")?;
    let plain = normalize(&value);
    if plain.is_empty() {
        return Err("has neither a letter nor a digit to look for");
    }
    if plain == normalize(answer) {
        return Err("is the answer itself");
    }
    Ok(value)
}

/// Returns a text, or a number as it is written.
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

    /// Reads questions about a conversation with messages that can be named and messages that cannot.
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
    fn evidence_names_messages_by_index_or_id() {
        let found = read(&json!([
            {"question": "What does Mio like?", "answer": "chicken", "evidence": ["m1", 3, 1],
                "outdated": ["fish"], "category": "cats"},
            {"question": "How many are there?", "answer": 1, "evidence": [1]},
        ]));
        let expected = [
            Question {
                answer: "chicken".to_owned(),
                further: Vec::new(),
                evidence: vec![1, 3],
                outdated: vec!["fish".to_owned()],
            },
            Question {
                answer: "1".to_owned(),
                further: Vec::new(),
                evidence: vec![1],
                outdated: Vec::new(),
            },
        ];
        assert_eq!(found.unwrap(), expected);
        assert_eq!(read(&json!([])), Ok(Vec::new()));
    }

    #[test]
    fn errors_name_the_place_without_any_text() {
        for (questions, expected) in [
            (json!({}), "expected a list of questions in `questions`"),
            (json!(["Who?"]), "`questions[0]` is not an object"),
            (
                json!([one("answer", json!("fish"))[0], {"answer": "a", "evidence": [1]}]),
                "`questions[1].question` is missing or not a text",
            ),
            (
                one("answer", Value::Null),
                "`questions[0].answer` is missing or neither a text, a number nor a list of these",
            ),
            (
                one("answer", json!("?!")),
                "`questions[0].answer` has neither a letter nor a digit to look for",
            ),
            (
                one("evidence", json!(3)),
                "`questions[0].evidence` is missing or not a list of messages",
            ),
            (
                one("evidence", json!([])),
                "`questions[0].evidence` names no message",
            ),
            (
                one("evidence", json!([1, 5])),
                "`questions[0].evidence[1]` is past the end of 5 messages: 5",
            ),
            (
                one("evidence", json!([-1])),
                "`questions[0].evidence[0]` is not an index: -1",
            ),
            (
                one("evidence", json!([1.5])),
                "`questions[0].evidence[0]` is not an index: 1.5",
            ),
            (
                one("evidence", json!([null])),
                "`questions[0].evidence[0]` is neither an index nor an `id` of a message",
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
                "`questions[0].evidence[0]` names an instruction, which is never removed: 0",
            ),
            (
                one("evidence", json!([2])),
                "`questions[0].evidence[0]` names a message without text to look for: 2",
            ),
            (
                one("outdated", json!("fish")),
                "`questions[0].outdated` is not a list of earlier answers",
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
    fn too_many_values_are_rejected() {
        let question = one("outdated", json!([]))[0].clone();
        assert_eq!(
            read(&json!(vec![question.clone(); MAX_VALUES])).map(|found| found.len()),
            Ok(MAX_VALUES)
        );
        assert_eq!(
            read(&json!(vec![question; MAX_VALUES + 1])),
            Err(
                "`questions` have more than 10000 answers and `outdated` values together: 10001"
                    .to_owned()
            )
        );
        let old = |count: usize| one("outdated", json!(vec!["fish"; count]));
        assert!(read(&old(MAX_VALUES - 1)).is_ok());
        assert_eq!(
            read(&old(MAX_VALUES)),
            Err(
                "`questions` have more than 10000 answers and `outdated` values together: 10001"
                    .to_owned()
            )
        );
        assert_eq!(
            read(&json!(vec![old(99)[0].clone(); MAX_VALUES / 100 + 1])),
            Err(
                "`questions` have more than 10000 answers and `outdated` values together: 10100"
                    .to_owned()
            )
        );
    }

    /// Reads one question with this `evidence` about `count` messages, each with an `id`.
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
    fn repeated_evidence_counts_once() {
        let ids: Vec<String> = (0..=MAX_VALUES).map(|place| format!("m{place}")).collect();
        // Each message is named many times.
        let names: Vec<String> = ids[..MAX_VALUES]
            .iter()
            .rev()
            .cycle()
            .take(200_000)
            .cloned()
            .collect();
        assert_eq!(named(MAX_VALUES, &names), Ok(MAX_VALUES));
        assert_eq!(
            named(MAX_VALUES + 1, &ids),
            Err("`questions` name more than 10000 messages as `evidence`: 10001".to_owned())
        );
    }
}
