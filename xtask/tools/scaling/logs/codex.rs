//! Logs of Codex.

use super::Dimension;
use crate::case::Input;
use crate::wire::line;

pub(super) const DIMENSIONS: &[Dimension] = &[
    ("steps", steps),
    ("lines without a wrapper", bare),
    ("compactions with a history", compacted),
    ("compactions without one", compacted_items),
    ("one compaction", one_compaction),
    ("rollbacks", rollbacks),
    ("rollbacks of replies", rollbacks_of_replies),
    ("rollbacks past compactions", rollbacks_past_compactions),
    ("outputs behind reasoning", behind_reasoning),
    ("one id in all calls", one_id),
    ("outputs without a call", orphans),
    ("calls without an output", unanswered),
    ("counts of tokens", counts),
    ("sessions", sessions),
    ("broken lines", broken),
];

fn wrapped(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"t","type":"{kind}","payload":{payload}}}"#)
}

fn item(payload: &str) -> String {
    wrapped("response_item", payload)
}

fn message(role: &str, part: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","role":"{role}","content":[{{"type":"{part}","text":"{text}"}}]}}"#
    )
}

fn user(number: usize) -> String {
    item(&message("user", "input_text", &line(number)))
}

fn reply(number: usize) -> String {
    item(&message("assistant", "output_text", &line(number)))
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"function_call","call_id":"{id}","name":"shell","arguments":"{{}}"}}"#)
}

fn output(id: &str, number: usize) -> String {
    let text = line(number);
    format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"{text}"}}"#)
}

/// The log of a session in which the user asked something, and these lines.
fn session(lines: impl IntoIterator<Item = String>) -> Input {
    let mut all = vec![wrapped("session_meta", r#"{"id":"s"}"#), user(0)];
    all.extend(lines);
    all.push(reply(1));
    all.push(user(2));
    Input::log(all)
}

fn steps(n: usize) -> Input {
    session((0..n / 2).flat_map(|number| {
        let id = format!("c{number}");
        [item(&call(&id)), item(&output(&id, number))]
    }))
}

fn bare(n: usize) -> Input {
    let mut lines = vec![message("user", "input_text", &line(0))];
    lines.extend((0..n / 2).flat_map(|number| {
        let id = format!("c{number}");
        [call(&id), output(&id, number)]
    }));
    lines.push(message("user", "input_text", &line(1)));
    Input::log(lines)
}

/// Each begins another history, behind which the one before stands.
fn compacted(n: usize) -> Input {
    let history = message("user", "input_text", "Count the grain.");
    session((0..n).map(|_| {
        wrapped(
            "compacted",
            &format!(r#"{{"message":"counted","replacement_history":[{history}]}}"#),
        )
    }))
}

/// Each takes over what the user said until then.
fn compacted_items(n: usize) -> Input {
    session((0..n / 2).flat_map(|number| {
        [
            user(number),
            wrapped("compacted", r#"{"message":"counted"}"#),
        ]
    }))
}

fn one_compaction(n: usize) -> Input {
    let history: Vec<String> = (0..n)
        .map(|number| message("user", "input_text", &line(number)))
        .collect();
    let history = history.join(",");
    session([wrapped(
        "compacted",
        &format!(r#"{{"message":"counted","replacement_history":[{history}]}}"#),
    )])
}

fn rollback(turns: usize) -> String {
    wrapped(
        "event_msg",
        &format!(r#"{{"type":"thread_rolled_back","num_turns":{turns}}}"#),
    )
}

fn rollbacks(n: usize) -> Input {
    let said = (0..n / 2).map(user);
    session(said.chain((0..n / 2).map(|_| rollback(1))))
}

/// Turns that are not there.
fn rollbacks_of_replies(n: usize) -> Input {
    let lines = vec![
        wrapped("session_meta", r#"{"id":"s"}"#),
        item(&message("developer", "input_text", "Count the grain.")),
    ];
    let replies = (0..n / 2).map(reply);
    let lines = lines.into_iter().chain(replies);
    let lines = lines.chain((0..n / 2).map(|_| rollback(1)));
    Input::log(lines.chain([user(0)]).collect())
}

fn rollbacks_past_compactions(n: usize) -> Input {
    let history = message("user", "input_text", "Count the grain.");
    let compacted = format!(r#"{{"message":"counted","replacement_history":[{history}]}}"#);
    let there = (0..n / 2).flat_map(|number| [user(number), wrapped("compacted", &compacted)]);
    let back = (0..n / 4).map(|_| rollback(1));
    session(there.chain(back).collect::<Vec<_>>())
}

/// Calls, reasoning, and only then the outputs.
fn behind_reasoning(n: usize) -> Input {
    let calls = (0..n / 3).map(|number| item(&call(&format!("c{number}"))));
    let reasoning = (0..n / 3).map(|number| {
        item(&format!(
            r#"{{"type":"reasoning","summary":[],"encrypted_content":"g{number}"}}"#
        ))
    });
    let outputs = (0..n / 3).map(|number| item(&output(&format!("c{number}"), number)));
    session(calls.chain(reasoning).chain(outputs).collect::<Vec<_>>())
}

fn one_id(n: usize) -> Input {
    session((0..n / 2).flat_map(|number| [item(&call("c")), item(&output("c", number))]))
}

fn orphans(n: usize) -> Input {
    session((0..n).map(|number| item(&output(&format!("c{number}"), number))))
}

fn unanswered(n: usize) -> Input {
    session((0..n).map(|number| item(&call(&format!("c{number}")))))
}

fn counts(n: usize) -> Input {
    session((0..n).map(|number| {
        wrapped(
            "event_msg",
            &format!(
                r#"{{"type":"token_count","info":{{"last_token_usage":{{"total_tokens":{number}}}}}}}"#
            ),
        )
    }))
}

fn sessions(n: usize) -> Input {
    session((0..n).map(|number| {
        wrapped(
            "session_meta",
            &format!(r#"{{"id":"s{number}","instructions":"Be brief."}}"#),
        )
    }))
}

fn broken(n: usize) -> Input {
    session((0..n).map(|number| match number % 3 {
        0 => "{\"timestamp\":".to_owned(),
        _ => user(number),
    }))
}
