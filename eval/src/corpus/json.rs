//! Files of JSON. Messages are cut out of them byte for byte, where there are some.

use std::collections::BTreeMap;

use baler_host::LogKind;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, Found, GEMINI, RESPONSES, WantedCall, first_of, questions};

#[derive(Deserialize)]
struct Trajectory<'a> {
    #[serde(borrow)]
    traj: &'a RawValue,
    #[serde(default)]
    info: Value,
    #[serde(borrow)]
    questions: Option<&'a RawValue>,
}

/// What a request body has beside its messages.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    contents: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    model: Option<Value>,
    system: Option<Value>,
    max_tokens: Option<Value>,
    #[serde(borrow)]
    questions: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct History<'a> {
    #[serde(borrow)]
    history: &'a RawValue,
    #[serde(borrow)]
    questions: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Messages<'a> {
    #[serde(borrow)]
    messages: &'a RawValue,
    #[serde(borrow)]
    questions: Option<&'a RawValue>,
}

/// A person's talks by day.
#[derive(Deserialize)]
struct Person {
    history: BTreeMap<String, Vec<Talk>>,
}

#[derive(Deserialize)]
struct Talk {
    query: String,
    response: String,
}

/// The log of a session.
pub(super) fn log(text: &str) -> Option<Found> {
    let format = match LogKind::of(text)? {
        LogKind::Codex => RESPONSES,
        LogKind::GeminiCli => GEMINI,
        _ => ANTHROPIC,
    };
    Some(Found::new(0, format, text))
}

/// A request body, or a list of messages.
pub(super) fn body(text: &str) -> Vec<Found> {
    // A list has to be told first: serde reads one as the members of a struct, in order.
    if text.trim_start().starts_with('[') {
        let first = serde_json::from_str::<Vec<Value>>(text)
            .ok()
            .and_then(|all| all.into_iter().next());
        let is_message = first.is_some_and(|first| first["role"].is_string());
        return is_message
            .then(|| Found::new(0, CHAT, text))
            .into_iter()
            .collect();
    }
    let Ok(body) = serde_json::from_str::<Body<'_>>(text) else {
        return Vec::new();
    };
    let (format, messages) = match (body.contents, body.input, body.messages) {
        (Some(contents), _, _) => (GEMINI, contents),
        (_, Some(input), _) if body.model.is_some() => (RESPONSES, input),
        (_, _, Some(messages)) if body.model.is_some() => {
            let is_anthropic = body.system.is_some() || body.max_tokens.is_some();
            (if is_anthropic { ANTHROPIC } else { CHAT }, messages)
        }
        _ => return Vec::new(),
    };
    vec![Found {
        questions: questions::beside(messages, format, body.questions),
        ..Found::new(0, format, without(text, body.questions))
    }]
}

/// The text of a body with `null` in the place of this value: nothing that compacts may know
/// what will be asked.
fn without(text: &str, value: Option<&RawValue>) -> String {
    let Some(value) = value.map(RawValue::get) else {
        return text.to_owned();
    };
    let start = value.as_ptr().addr() - text.as_ptr().addr();
    format!("{}null{}", &text[..start], &text[start + value.len()..])
}

/// A list of runs, each with its messages under `traj`, and perhaps with the calls that solve
/// its task.
pub(super) fn trajectories(text: &str) -> Vec<Found> {
    if !text.trim_start().starts_with('[') {
        return Vec::new();
    }
    let runs: Vec<Trajectory<'_>> = serde_json::from_str(text).unwrap_or_default();
    runs.iter()
        .enumerate()
        .map(|(place, run)| Found {
            wanted: wanted(&run.info),
            ..list(place, run.traj, run.questions)
        })
        .collect()
}

fn wanted(info: &Value) -> Vec<WantedCall> {
    let actions = info["task"]["actions"].as_array().into_iter().flatten();
    actions
        .filter_map(|action| {
            Some(WantedCall {
                name: action["name"].as_str()?.to_owned(),
                arguments: action["kwargs"].clone(),
            })
        })
        .collect()
}

/// One run, with its messages under `history`.
pub(super) fn history(text: &str) -> Vec<Found> {
    serde_json::from_str::<History<'_>>(text)
        .map(|run| list(0, run.history, run.questions))
        .into_iter()
        .collect()
}

/// One run, with its messages under `messages`.
pub(super) fn messages(text: &str) -> Vec<Found> {
    serde_json::from_str::<Messages<'_>>(text)
        .map(|run| list(0, run.messages, run.questions))
        .into_iter()
        .collect()
}

/// A list of messages, and what is asked about it.
fn list(place: usize, messages: &RawValue, questions: Option<&RawValue>) -> Found {
    Found {
        questions: questions::beside(messages, CHAT, questions),
        ..Found::new(place, CHAT, messages.get())
    }
}

/// One conversation a line: request bodies, or objects with their messages. The first line tells;
/// a later one that holds none is given as it is, so that it is told that it cannot be read.
pub(super) fn lines(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for (place, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match first_of(line, &[body, history, messages]).pop() {
            Some(own) => found.push(Found { place, ..own }),
            None if found.is_empty() => return found,
            None => found.push(Found::new(place, CHAT, line)),
        }
    }
    found
}

/// Persons by name, each with questions and answers by day, as one conversation.
pub(super) fn days(text: &str) -> Vec<Found> {
    let persons: BTreeMap<String, Person> = serde_json::from_str(text).unwrap_or_default();
    persons
        .into_values()
        .enumerate()
        .map(|(place, person)| {
            let messages: Vec<_> = person
                .history
                .into_values()
                .flatten()
                .flat_map(|talk| [("user", talk.query), ("assistant", talk.response)])
                .map(|(role, content)| json!({"role": role, "content": content}))
                .collect();
            Found::new(place, CHAT, json!({"messages": messages}).to_string())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_out_byte_for_byte() {
        let list = r#"[ {"role": "user",  "content": "caf\u00e9"} ]"#;
        let found = vec![Found::new(0, CHAT, list)];
        assert_eq!(
            trajectories(&format!(r#"[{{"task": 1, "traj": {list}}}]"#)),
            found
        );
        assert_eq!(
            history(&format!(r#"{{"history": {list}, "info": {{}}}}"#)),
            found
        );
        assert_eq!(messages(&format!(r#"{{"messages": {list}}}"#)), found);
    }

    #[test]
    fn a_body_stays_whole_and_tells_its_format() {
        for (body, format) in [
            (r#"{"model": "m", "messages": []}"#, CHAT),
            (
                r#"{"model": "m", "max_tokens": 9, "messages": []}"#,
                ANTHROPIC,
            ),
            (r#"{"model": "m", "input": "hi"}"#, RESPONSES),
            (r#"{"contents": []}"#, GEMINI),
        ] {
            assert_eq!(super::body(body), [Found::new(0, format, body)]);
        }
    }

    #[test]
    fn the_calls_that_solve_a_task_are_read() {
        let text = r#"[{"traj": [], "info": {"task": {"actions": [{"name": "book", "kwargs": {"id": "W1"}}]}}}]"#;
        assert_eq!(
            trajectories(text)[0].wanted,
            [WantedCall {
                name: "book".to_owned(),
                arguments: json!({"id": "W1"})
            }]
        );
    }

    #[test]
    fn questions_stand_beside_the_messages_and_are_no_part_of_the_document() {
        let list =
            r#"[{"role": "user", "content": "Mio likes fish.", "parts": [{"text": "Mio"}]}]"#;
        let asked = r#"[{"question": "Who?", "answer": "Mio", "evidence": [0]}]"#;
        let expected = vec![super::super::Question {
            answer: "Mio".to_owned(),
            evidence: vec![0],
            outdated: Vec::new(),
        }];
        let members = |members: &str| members.replace("LIST", list);
        for start in [
            r#""model": "m", "messages": LIST"#,
            r#""model": "m", "max_tokens": 9, "messages": LIST"#,
            r#""model": "m", "input": LIST"#,
            r#""contents": LIST"#,
        ] {
            let start = members(start);
            let found = body(&format!(r#"{{{start}, "questions": {asked}, "n": 1}}"#));
            assert_eq!(found[0].questions.as_ref(), Ok(&expected), "{start}");
            let document = format!(r#"{{{start}, "questions": null, "n": 1}}"#);
            assert_eq!(found[0].document, document);
        }
        for (read, text) in [
            (
                messages as fn(&str) -> Vec<Found>,
                r#"{"questions": ASKED, "messages": LIST}"#,
            ),
            (history, r#"{"questions": ASKED, "history": LIST}"#),
            (trajectories, r#"[{"traj": LIST, "questions": ASKED}]"#),
        ] {
            let found = read(&members(text).replace("ASKED", asked));
            assert_eq!(found[0].questions.as_ref(), Ok(&expected), "{text}");
            assert_eq!(found[0].document, list);
        }
    }

    #[test]
    fn each_line_can_be_a_conversation() {
        let body = r#"{"model": "m", "messages": []}"#;
        let found = lines(&format!("{body}\n\n{{\"messages\": [1]}}\n{{\"mes\n"));
        assert_eq!(
            found,
            [
                Found::new(0, CHAT, body),
                Found::new(2, CHAT, "[1]"),
                // So that it is told that it cannot be read.
                Found::new(3, CHAT, r#"{"mes"#),
            ]
        );
        assert!(lines(&format!("{{}}\n{body}\n")).is_empty());
    }

    #[test]
    fn a_file_of_another_shape_holds_none() {
        for text in ["", "{}", "[]", r#"{"patch": true}"#] {
            assert!(trajectories(text).is_empty());
            assert!(history(text).is_empty());
            assert!(messages(text).is_empty());
        }
    }

    #[test]
    fn days_become_one_conversation_in_order() {
        let found = days(
            r#"{"p": {"name": "p", "history": {"2023-05-02": [{"query": "c", "response": "d"}], "2023-05-01": [{"query": "a", "response": "b"}]}}}"#,
        );
        assert_eq!(
            found,
            [Found::new(
                0,
                CHAT,
                r#"{"messages":[{"content":"a","role":"user"},{"content":"b","role":"assistant"},{"content":"c","role":"user"},{"content":"d","role":"assistant"}]}"#
            )]
        );
    }
}
