//! Logs of pi, which become requests of four formats.

use super::Dimension;
use crate::case::Input;
use crate::wire::line;

pub(super) const DIMENSIONS: &[Dimension] = &[
    ("steps, anthropic", steps_of_anthropic),
    ("steps, chat", steps_of_chat),
    ("steps, responses", steps_of_responses),
    ("steps, google", steps_of_google),
    ("parallel calls", parallel),
    ("ids of one beginning", ids_of_one_beginning),
    ("ids of one beginning, chat", ids_of_one_beginning_in_chat),
    ("one id in all calls", one_id),
    ("branches", branches),
    ("compactions", compactions),
    ("summaries of branches", branch_summaries),
    ("pictures of outputs", pictures),
    ("commands", commands),
    ("edits", edits),
    ("sections and tools", sections_and_tools),
];

const ANTHROPIC: &str = "anthropic-messages";
const CHAT: &str = "openai-completions";
const RESPONSES: &str = "openai-responses";
const GOOGLE: &str = "google-generative-ai";

/// A line behind the one before.
fn entry(number: usize, kind: &str, more: &str) -> String {
    let parent = number - 1;
    format!(r#"{{"type":"{kind}","id":"e{number}","parentId":"e{parent}",{more}}}"#)
}

fn message(number: usize, message: &str) -> String {
    entry(number, "message", &format!(r#""message":{message}"#))
}

fn said(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

fn replied(api: &str, blocks: &str) -> String {
    format!(
        r#"{{"role":"assistant","api":"{api}","model":"small","content":[{blocks}],"stopReason":"stop","usage":{{"input":9,"output":6}}}}"#
    )
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"toolCall","id":"{id}","name":"read","arguments":{{}}}}"#)
}

fn result(id: &str, content: &str) -> String {
    format!(
        r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"read","content":[{content}],"isError":false}}"#
    )
}

fn text(number: usize) -> String {
    format!(r#"{{"type":"text","text":"{}"}}"#, line(number))
}

/// A session of these messages, each behind the one before.
fn session(messages: impl IntoIterator<Item = String>) -> Input {
    let mut lines = vec![r#"{"type":"session","id":"s","version":3,"provider":"x"}"#.to_owned()];
    let all = std::iter::once(said("Count the grain.")).chain(messages);
    let all = all.chain([said("And what went out?")]);
    lines.extend(
        all.enumerate()
            .map(|(number, own)| message(number + 1, &own)),
    );
    Input::log(lines)
}

fn steps(api: &str, n: usize) -> Input {
    session((0..n / 2).flat_map(|number| {
        let id = format!("c{number}");
        [replied(api, &call(&id)), result(&id, &text(number))]
    }))
}

fn steps_of_anthropic(n: usize) -> Input {
    steps(ANTHROPIC, n)
}

fn steps_of_chat(n: usize) -> Input {
    steps(CHAT, n)
}

fn steps_of_responses(n: usize) -> Input {
    steps(RESPONSES, n)
}

fn steps_of_google(n: usize) -> Input {
    steps(GOOGLE, n)
}

fn parallel(n: usize) -> Input {
    let calls: Vec<String> = (0..n / 2)
        .map(|number| call(&format!("c{number}")))
        .collect();
    let results = (0..n / 2).map(|number| result(&format!("c{number}"), &text(number)));
    session(std::iter::once(replied(ANTHROPIC, &calls.join(","))).chain(results))
}

/// Ids of which only the end differs, each of them twice.
fn with_ids(api: &str, n: usize) -> Input {
    let prefix = "c".repeat(56);
    session((0..n / 2).flat_map(|number| {
        let id = format!("{prefix}{:07}", number / 2);
        [replied(api, &call(&id)), result(&id, &text(number))]
    }))
}

fn ids_of_one_beginning(n: usize) -> Input {
    with_ids(ANTHROPIC, n)
}

fn ids_of_one_beginning_in_chat(n: usize) -> Input {
    with_ids(CHAT, n)
}

fn one_id(n: usize) -> Input {
    session(
        (0..n / 2).flat_map(|number| [replied(ANTHROPIC, &call("c")), result("c", &text(number))]),
    )
}

/// Every second line goes back to the first.
fn branches(n: usize) -> Input {
    let mut lines = vec![r#"{"type":"session","id":"s","version":3,"provider":"x"}"#.to_owned()];
    lines.extend((1..=n).map(|number| {
        let parent = if number % 2 == 0 { 1 } else { number - 1 };
        let own = said(&line(number));
        format!(r#"{{"type":"message","id":"e{number}","parentId":"e{parent}","message":{own}}}"#)
    }));
    Input::log(lines)
}

fn compactions(n: usize) -> Input {
    let mut lines = vec![r#"{"type":"session","id":"s","version":3,"provider":"x"}"#.to_owned()];
    lines.extend((1..=n).map(|number| {
        if number % 2 == 0 {
            let more = format!(
                r#""summary":"{}","firstKeptEntryId":"e{}""#,
                line(number),
                number - 1
            );
            entry(number, "compaction", &more)
        } else {
            message(number, &said(&line(number)))
        }
    }));
    lines.push(message(n + 1, &said("And what went out?")));
    Input::log(lines)
}

/// Each becomes a summary with a mark of the host's own.
fn branch_summaries(n: usize) -> Input {
    let mut lines = vec![r#"{"type":"session","id":"s","version":3,"provider":"x"}"#.to_owned()];
    lines.extend((1..=n).map(|number| {
        if number % 2 == 0 {
            entry(
                number,
                "branch_summary",
                &format!(r#""summary":"{}""#, line(number)),
            )
        } else {
            message(number, &said(&line(number)))
        }
    }));
    lines.push(message(n + 1, &said("And what went out?")));
    Input::log(lines)
}

fn pictures(n: usize) -> Input {
    let picture = r#"{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}"#;
    let calls: Vec<String> = (0..n / 2)
        .map(|number| call(&format!("c{number}")))
        .collect();
    let results = (0..n / 2).map(|number| result(&format!("c{number}"), picture));
    session(std::iter::once(replied(CHAT, &calls.join(","))).chain(results))
}

fn commands(n: usize) -> Input {
    session((0..n).map(|number| {
        let output = line(number);
        format!(
            r#"{{"role":"bashExecution","command":"ls","output":"{output}","exitCode":{}}}"#,
            number % 2
        )
    }))
}

/// Each of them hides one message.
fn edits(n: usize) -> Input {
    let mut lines = vec![r#"{"type":"session","id":"s","version":3,"provider":"x"}"#.to_owned()];
    lines.extend((1..=n / 2).map(|number| message(number, &said(&line(number)))));
    lines.extend((1..n / 2).map(|number| {
        let edit = format!(r#""targetId":"e{number}","replacement":null"#);
        entry(n / 2 + number, "context_edit", &edit)
    }));
    Input::log(lines)
}

/// Each message of the system sets one of each, and removes those of the message before.
fn sections_and_tools(n: usize) -> Input {
    session((1..=n).map(|number| {
        let (text, before) = (line(number), number - 1);
        format!(
            r#"{{"role":"system","content":"","sections":{{"s{number}":"{text}","s{before}":null}},"toolsAdded":[{{"name":"t{number}","parameters":{{}}}}],"toolsRemoved":[{{"name":"t{before}"}}]}}"#
        )
    }))
}
