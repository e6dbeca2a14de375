//! Logs of Claude Code.

use super::Dimension;
use crate::case::Input;
use crate::wire::line;

pub(super) const DIMENSIONS: &[Dimension] = &[
    ("steps", steps),
    ("one response in many lines", one_response),
    ("parallel calls", parallel),
    ("branches of one line", branches),
    ("branches of branches", nested_branches),
    ("summaries", summaries),
    ("boundaries", boundaries),
    ("lines kept by boundaries", kept),
    ("side chains", side_chains),
    ("lines twice", twice),
    ("one id in all calls", one_id),
    ("outputs without a call", orphans),
    ("calls without an output", unanswered),
    ("messages in the queue", queued),
];

/// A line: `more` are further members, each with a comma behind it.
fn entry(number: usize, parent: Option<usize>, more: &str, kind: &str, message: &str) -> String {
    let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!(r#""u{parent}""#));
    format!(
        r#"{{"parentUuid":{parent},{more}"sessionId":"s","type":"{kind}","message":{message},"uuid":"u{number}"}}"#
    )
}

/// The line behind the one before.
fn next(number: usize, kind: &str, message: &str) -> String {
    entry(number, number.checked_sub(1), "", kind, message)
}

fn said(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

fn replied(id: usize, block: &str) -> String {
    format!(
        r#"{{"id":"m{id}","role":"assistant","model":"claude-sonnet-4-5","content":[{block}],"usage":{{"input_tokens":{id},"output_tokens":5}}}}"#
    )
}

fn text(number: usize) -> String {
    format!(r#"{{"type":"text","text":"{}"}}"#, line(number))
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}"#)
}

fn results(ids: &[String]) -> String {
    let results: Vec<String> = ids
        .iter()
        .enumerate()
        .map(|(number, id)| {
            let text = line(number);
            format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}"#)
        })
        .collect();
    format!(r#"{{"role":"user","content":[{}]}}"#, results.join(","))
}

/// A log in which each line stands behind the one before.
fn chain(messages: impl Iterator<Item = (&'static str, String)>) -> Input {
    let first = ("user", said("Count the grain."));
    let last = ("user", said("And what went out?"));
    let messages = std::iter::once(first).chain(messages).chain([last]);
    let lines = messages
        .enumerate()
        .map(|(number, (kind, message))| next(number, kind, &message));
    Input::log(lines.collect())
}

fn steps(n: usize) -> Input {
    chain((0..n / 2).flat_map(|number| {
        let id = format!("c{number}");
        [
            ("assistant", replied(number, &call(&id))),
            ("user", results(&[id])),
        ]
    }))
}

fn one_response(n: usize) -> Input {
    chain((0..n).map(|number| ("assistant", replied(0, &text(number)))))
}

fn parallel(n: usize) -> Input {
    let calls = (0..n / 2).map(|number| ("assistant", replied(0, &call(&format!("c{number}")))));
    let answers = (0..n / 2).map(|number| ("user", results(&[format!("c{number}")])));
    chain(calls.chain(answers))
}

/// The user typed again and again behind one answer, and each try was answered.
fn branches(n: usize) -> Input {
    let mut lines = vec![
        next(0, "user", &said("Count the grain.")),
        next(1, "assistant", &replied(0, &text(0))),
    ];
    for number in (2..n).step_by(2) {
        lines.push(entry(number, Some(1), "", "user", &said(&line(number))));
        let reply = replied(number, &text(number));
        lines.push(entry(number + 1, Some(number), "", "assistant", &reply));
    }
    Input::log(lines)
}

/// Each try goes back to the middle of all that was said.
fn nested_branches(n: usize) -> Input {
    let mut lines = vec![
        next(0, "user", &said("Count the grain.")),
        next(1, "assistant", &replied(0, &text(0))),
    ];
    for number in (2..n).step_by(2) {
        let parent = number / 4 * 2 + 1;
        let parent = Some(parent.min(number - 1));
        lines.push(entry(number, parent, "", "user", &said(&line(number))));
        let reply = replied(number, &text(number));
        lines.push(entry(number + 1, Some(number), "", "assistant", &reply));
    }
    Input::log(lines)
}

fn summaries(n: usize) -> Input {
    let summary = r#""isCompactSummary":true,"#;
    let mut lines = vec![next(0, "user", &said("Count the grain."))];
    lines.extend((1..n).map(|number| {
        let parent = number.checked_sub(1);
        entry(number, parent, summary, "user", &said(&line(number)))
    }));
    lines.push(next(n, "user", &said("And what went out?")));
    Input::log(lines)
}

fn boundaries(n: usize) -> Input {
    let mut lines = vec![next(0, "user", &said("Count the grain."))];
    for number in (1..n).step_by(2) {
        lines.push(format!(
            r#"{{"parentUuid":null,"sessionId":"s","type":"system","subtype":"compact_boundary","uuid":"u{number}"}}"#
        ));
        lines.push(next(number + 1, "user", &said(&line(number))));
    }
    Input::log(lines)
}

/// Each boundary keeps all that was said.
fn kept(n: usize) -> Input {
    let last = n / 2;
    let mut lines: Vec<String> = (0..=last)
        .map(|number| next(number, "user", &said(&line(number))))
        .collect();
    lines.extend((last + 1..n).map(|number| {
        let ends = format!(r#"{{"headUuid":"u0","anchorUuid":"u{number}","tailUuid":"u{last}"}}"#);
        format!(
            r#"{{"parentUuid":null,"sessionId":"s","type":"system","subtype":"compact_boundary","uuid":"u{number}","compactMetadata":{{"preservedSegment":{ends}}}}}"#
        )
    }));
    lines.push(next(n, "user", &said("And what went out?")));
    Input::log(lines)
}

fn side_chains(n: usize) -> Input {
    let side = r#""isSidechain":true,"#;
    let mut lines = vec![next(0, "user", &said("Count the grain."))];
    lines.extend((1..n).map(|number| {
        let parent = number.checked_sub(1);
        entry(number, parent, side, "user", &said(&line(number)))
    }));
    Input::log(lines)
}

fn twice(n: usize) -> Input {
    let mut lines = vec![next(0, "user", &said("Count the grain."))];
    lines.extend((1..n).map(|number| next(number / 2, "user", &said(&line(number)))));
    Input::log(lines)
}

fn one_id(n: usize) -> Input {
    chain((0..n / 2).flat_map(|number| {
        [
            ("assistant", replied(number, &call("c"))),
            ("user", results(&["c".to_owned()])),
        ]
    }))
}

fn orphans(n: usize) -> Input {
    chain((0..n).map(|number| ("user", results(&[format!("c{number}")]))))
}

fn unanswered(n: usize) -> Input {
    chain((0..n).map(|number| ("assistant", replied(number, &call(&format!("c{number}"))))))
}

/// They leave the queue from its end.
fn queued(n: usize) -> Input {
    let operation = |kind: &str, number: usize| {
        let text = line(number);
        format!(
            r#"{{"type":"queue-operation","operation":"{kind}","sessionId":"s","timestamp":"t{number}","content":"{text}"}}"#
        )
    };
    let mut lines = vec![next(0, "user", &said("Count the grain."))];
    lines.extend((0..n / 2).map(|number| operation("enqueue", number)));
    lines.extend((0..n / 2).rev().map(|number| operation("remove", number)));
    lines.push(next(1, "assistant", &replied(1, &text(1))));
    Input::log(lines)
}
