//! Sets whose files are JSON. Messages are cut out of them byte for byte, where there are some.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::{CHAT, Found};

#[derive(Deserialize)]
struct Trajectory<'a> {
    #[serde(borrow)]
    traj: &'a RawValue,
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

/// A list of runs, each with its messages under `traj`.
pub(crate) fn trajectories(text: &str) -> Vec<Found> {
    let runs: Vec<Trajectory<'_>> = serde_json::from_str(text).unwrap_or_default();
    runs.iter()
        .enumerate()
        .map(|(place, run)| (place, CHAT, run.traj.get().to_owned()))
        .collect()
}

/// One run, with its messages under `history`.
pub(crate) fn history(text: &str) -> Vec<Found> {
    serde_json::from_str::<History<'_>>(text)
        .map(|run| (0, CHAT, run.history.get().to_owned()))
        .into_iter()
        .collect()
}

/// One run, with its messages under `messages`.
pub(crate) fn messages(text: &str) -> Vec<Found> {
    serde_json::from_str::<Messages<'_>>(text)
        .map(|run| (0, CHAT, run.messages.get().to_owned()))
        .into_iter()
        .collect()
}

/// Persons by name, each with questions and answers by day, as one conversation.
pub(crate) fn days(text: &str) -> Vec<Found> {
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
            (place, CHAT, json!({"messages": messages}).to_string())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_out_byte_for_byte() {
        let list = r#"[ {"role": "user",  "content": "caf\u00e9"} ]"#;
        let found = vec![(0, CHAT, list.to_owned())];
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
            [(0, CHAT, r#"{"messages":[{"content":"a","role":"user"},{"content":"b","role":"assistant"},{"content":"c","role":"user"},{"content":"d","role":"assistant"}]}"#.to_owned())]
        );
    }
}
