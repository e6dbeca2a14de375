//! JSON files. Messages are copied out of them byte for byte.

use std::collections::BTreeMap;

use baler_host::conversation::session_logs::LogKind;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{
    ANTHROPIC, BEDROCK, CHAT, GEMINI, RESPONSES, Recording, RecordingKind, WantedCall, first_of,
    questions,
};

#[derive(Deserialize)]
struct Trajectory<'a> {
    #[serde(borrow)]
    traj: &'a RawValue,
    #[serde(default)]
    info: Value,
    #[serde(borrow)]
    questions: Option<&'a RawValue>,
    #[serde(borrow)]
    needs: Option<&'a RawValue>,
}

/// A request body.
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
    #[serde(rename = "toolConfig")]
    tool_config: Option<Value>,
    #[serde(rename = "inferenceConfig")]
    inference_config: Option<Value>,
    #[serde(rename = "modelId")]
    model_id: Option<Value>,
    #[serde(borrow)]
    questions: Option<&'a RawValue>,
    #[serde(borrow)]
    needs: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Run<'a> {
    #[serde(borrow, alias = "history")]
    messages: &'a RawValue,
    #[serde(borrow)]
    questions: Option<&'a RawValue>,
    #[serde(borrow)]
    needs: Option<&'a RawValue>,
}

/// A person's conversations by day.
#[derive(Deserialize)]
struct Person {
    history: BTreeMap<String, Vec<Talk>>,
}

#[derive(Deserialize)]
struct Talk {
    query: String,
    response: String,
}

/// Reads the log of a session.
pub(super) fn log(text: &str) -> Vec<Recording> {
    let format = match LogKind::of(text) {
        None => return Vec::new(),
        Some(LogKind::Codex) => RESPONSES,
        Some(LogKind::GeminiCli) => GEMINI,
        Some(_) => ANTHROPIC,
    };
    vec![Recording {
        kind: RecordingKind::Log,
        ..Recording::new(0, format, text)
    }]
}

/// Reads a request body, or a list of messages.
pub(super) fn body(text: &str) -> Vec<Recording> {
    // Lists come first, because serde would read a list as the members of a struct, in order.
    if text.trim_start().starts_with('[') {
        let first = serde_json::from_str::<Vec<Value>>(text)
            .ok()
            .and_then(|all| all.into_iter().next());
        let is_message = first.is_some_and(|first| first["role"].is_string());
        return is_message
            .then(|| Recording::new(0, CHAT, text))
            .into_iter()
            .collect();
    }
    let Ok(body) = serde_json::from_str::<Body<'_>>(text) else {
        return Vec::new();
    };
    let (format, messages) = match (body.contents, body.input, body.messages) {
        (Some(contents), _, _) => (GEMINI, contents),
        (_, Some(input), _) if body.model.is_some() => (RESPONSES, input),
        (_, _, Some(messages))
            if body.tool_config.is_some()
                || body.inference_config.is_some()
                || body.model_id.is_some() =>
        {
            (BEDROCK, messages)
        }
        (_, _, Some(messages)) if body.model.is_some() => {
            // What baler makes of a log has neither system text nor a limit.
            let has_results = messages.get().contains("\"tool_use_id\"");
            let is_anthropic = body.system.is_some() || body.max_tokens.is_some() || has_results;
            (if is_anthropic { ANTHROPIC } else { CHAT }, messages)
        }
        _ => return Vec::new(),
    };
    let questions = questions::beside(messages, format, body.questions);
    let document = without(text, [body.questions, body.needs]);
    vec![Recording::new(0, format, document).asked(questions, body.needs)]
}

/// Returns a body with `null` in place of these values, so that no strategy sees what is asked.
fn without(text: &str, values: [Option<&RawValue>; 2]) -> String {
    let place = |value: &RawValue| {
        let start = value.get().as_ptr().addr() - text.as_ptr().addr();
        start..start + value.get().len()
    };
    let mut places: Vec<_> = values.into_iter().flatten().map(place).collect();
    places.sort_by_key(|place| place.start);
    let mut document = text.to_owned();
    for place in places.into_iter().rev() {
        document.replace_range(place, "null");
    }
    document
}

/// Reads a list of runs, each with its messages under `traj`, and optionally the calls that solve its task.
pub(super) fn trajectories(text: &str) -> Vec<Recording> {
    if !text.trim_start().starts_with('[') {
        return Vec::new();
    }
    let runs: Vec<Trajectory<'_>> = serde_json::from_str(text).unwrap_or_default();
    runs.iter()
        .enumerate()
        .map(|(place, run)| Recording {
            wanted: wanted(&run.info),
            ..list(place, run.traj, [run.questions, run.needs])
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

/// Reads one run with its messages under `messages` or `history`.
pub(super) fn messages(text: &str) -> Vec<Recording> {
    serde_json::from_str::<Run<'_>>(text)
        .map(|run| list(0, run.messages, [run.questions, run.needs]))
        .into_iter()
        .collect()
}

/// A list of messages with the questions about it, and its needs.
fn list(
    place: usize,
    messages: &RawValue,
    [questions, needs]: [Option<&RawValue>; 2],
) -> Recording {
    let questions = questions::beside(messages, CHAT, questions);
    Recording::new(place, CHAT, messages.get()).asked(questions, needs)
}

/// Reads one conversation per line: request bodies, or objects with messages. The first line decides whether
/// the file has this shape. A later line without a conversation is returned as it is, so that it is reported
/// as unreadable.
pub(super) fn lines(text: &str) -> Vec<Recording> {
    let mut found = Vec::new();
    for (place, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match first_of(line, &[body, messages]).pop() {
            Some(own) => found.push(Recording {
                id: place.to_string(),
                ..own
            }),
            None if found.is_empty() => return found,
            None => found.push(Recording::new(place, CHAT, line)),
        }
    }
    found
}

/// Reads persons by name, each with questions and answers by day. Each person becomes one conversation.
pub(super) fn days(text: &str) -> Vec<Recording> {
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
            Recording::new(place, CHAT, json!({"messages": messages}).to_string())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_copy_messages_byte_for_byte() {
        let list = r#"[ {"role": "user",  "content": "caf\u00e9"} ]"#;
        let found = vec![Recording::new(0, CHAT, list)];
        assert_eq!(
            trajectories(&format!(r#"[{{"task": 1, "traj": {list}}}]"#)),
            found
        );
        assert_eq!(
            messages(&format!(r#"{{"history": {list}, "info": {{}}}}"#)),
            found
        );
        assert_eq!(messages(&format!(r#"{{"messages": {list}}}"#)), found);
    }

    #[test]
    fn body_stays_whole_and_has_its_format() {
        for (body, format) in [
            (r#"{"model": "m", "messages": []}"#, CHAT),
            (
                r#"{"model": "m", "max_tokens": 9, "messages": []}"#,
                ANTHROPIC,
            ),
            (
                r#"{"model": "m", "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]}"#,
                ANTHROPIC,
            ),
            (r#"{"model": "m", "input": "hi"}"#, RESPONSES),
            (r#"{"contents": []}"#, GEMINI),
            (r#"{"messages": [], "inferenceConfig": {}}"#, BEDROCK),
            (r#"{"messages": [], "toolConfig": {"tools": []}}"#, BEDROCK),
        ] {
            assert_eq!(super::body(body), [Recording::new(0, format, body)]);
        }
    }

    #[test]
    fn trajectories_read_the_calls_that_solve_a_task() {
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
    fn questions_are_read_and_removed_from_the_document() {
        let list =
            r#"[{"role": "user", "content": "Mio likes fish.", "parts": [{"text": "Mio"}]}]"#;
        let asked = r#"[{"question": "Who?", "answer": "Mio", "evidence": [0]}]"#;
        let expected = vec![super::super::Question {
            answer: "Mio".to_owned(),
            further: Vec::new(),
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
                messages as fn(&str) -> Vec<Recording>,
                r#"{"questions": ASKED, "messages": LIST}"#,
            ),
            (messages, r#"{"questions": ASKED, "history": LIST}"#),
            (trajectories, r#"[{"traj": LIST, "questions": ASKED}]"#),
        ] {
            let found = read(&members(text).replace("ASKED", asked));
            assert_eq!(found[0].questions.as_ref(), Ok(&expected), "{text}");
            assert_eq!(found[0].document, list);
        }
    }

    #[test]
    fn lines_read_one_conversation_per_line() {
        let body = r#"{"model": "m", "messages": []}"#;
        let found = lines(&format!("{body}\n\n{{\"messages\": [1]}}\n{{\"mes\n"));
        assert_eq!(
            found,
            [
                Recording::new(0, CHAT, body),
                Recording::new(2, CHAT, "[1]"),
                // Returned, so that it is reported as unreadable.
                Recording::new(3, CHAT, r#"{"mes"#),
            ]
        );
        assert!(lines(&format!("{{}}\n{body}\n")).is_empty());
    }

    #[test]
    fn readers_find_nothing_in_other_shapes() {
        for text in ["", "{}", "[]", r#"{"patch": true}"#] {
            assert!(trajectories(text).is_empty());
            assert!(messages(text).is_empty());
        }
    }

    #[test]
    fn days_become_one_conversation_in_order_of_date() {
        let found = days(
            r#"{"p": {"name": "p", "history": {"2023-05-02": [{"query": "c", "response": "d"}], "2023-05-01": [{"query": "a", "response": "b"}]}}}"#,
        );
        assert_eq!(
            found,
            [Recording::new(
                0,
                CHAT,
                r#"{"messages":[{"content":"a","role":"user"},{"content":"b","role":"assistant"},{"content":"c","role":"user"},{"content":"d","role":"assistant"}]}"#
            )]
        );
    }
}
