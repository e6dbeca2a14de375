//! Files of JSON. Messages are cut out of them byte for byte, where there are some.

use std::collections::BTreeMap;

use baler_host::LogKind;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, Found, GEMINI, RESPONSES, WantedCall};

#[derive(Deserialize)]
struct Trajectory<'a> {
    #[serde(borrow)]
    traj: &'a RawValue,
    #[serde(default)]
    info: Value,
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
}

#[derive(Deserialize)]
struct History<'a> {
    #[serde(borrow)]
    history: &'a RawValue,
}

#[derive(Deserialize)]
struct Messages<'a> {
    #[serde(borrow)]
    messages: &'a RawValue,
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
    let format = if body.contents.is_some() {
        Some(GEMINI)
    } else if body.input.is_some() && body.model.is_some() {
        Some(RESPONSES)
    } else if body.messages.is_some() && body.model.is_some() {
        let is_anthropic = body.system.is_some() || body.max_tokens.is_some();
        Some(if is_anthropic { ANTHROPIC } else { CHAT })
    } else {
        None
    };
    format
        .map(|format| Found::new(0, format, text))
        .into_iter()
        .collect()
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
            ..Found::new(place, CHAT, run.traj.get())
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
        .map(|run| Found::new(0, CHAT, run.history.get()))
        .into_iter()
        .collect()
}

/// One run, with its messages under `messages`.
pub(super) fn messages(text: &str) -> Vec<Found> {
    serde_json::from_str::<Messages<'_>>(text)
        .map(|run| Found::new(0, CHAT, run.messages.get()))
        .into_iter()
        .collect()
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
